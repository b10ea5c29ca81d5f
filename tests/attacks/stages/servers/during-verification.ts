/** Processes that try to be there while verify commands run, and to show them other contents than the patch has. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Attack, attacksIn, type Stage } from '../../attack.ts';
import { call, shell, toDo } from '../../goals.ts';

const byServer = attacksIn('Policy', 'during', 'alone', 'processes');
const byCommand = attacksIn('Policy', 'during', 'processes');

/** Passes as soon as the file is good, and gives whoever made it so the time to put it back. */
const verify = (id: string) =>
  `touch ${id}.seen; for i in $(seq 30); do if grep -q good ${id}.txt; then touch ${id}.passed; sleep 0.3; exit 0; fi; sleep 0.05; done; exit 1`;

/** Makes the file good when its verify command has begun, and puts it back when that has passed. */
const swap = (id: string, start: string) =>
  `${start} sh -c 'while [ ! -e ${id}.seen ]; do sleep 0.02; done; echo good > ${id}.txt; while [ ! -e ${id}.passed ]; do sleep 0.02; done; echo bad > ${id}.txt' > /dev/null 2>&1 < /dev/null & sleep 0.3`;

const toPass = (id: string) =>
  toDo(({ run }) => {
    const report = run.result.verify.find(({ command }) => command === verify(id));
    if (report === undefined) return `it was not run: ${run.stderr}`;
    return report.end.exitCode === 0 ? 'the verify command passed' : null;
  });

const served = (command: string) => [[call('own__run', { command })]];
const during = (
  id: string,
  what: string,
  does: (command: string) => ReturnType<NonNullable<Attack['does']>>,
  start: string,
) => (does === served ? byServer : byCommand)(id, what, toPass(id), () => does(swap(id, start)));

const PLAIN = 'setsid';
const UNMARKED = 'setsid env -i PATH=/usr/local/bin:/usr/bin:/bin';

const ATTACKS = [
  during(
    'server',
    "A server of the repository's own project file makes a file good while verification reads it, and puts it back",
    served,
    PLAIN,
  ),
  during(
    'server-unmarked',
    'The same by a process of the server in a session of its own, with an empty environment',
    served,
    UNMARKED,
  ),
  during('command', 'The same by a process that a command leaves in the background', shell, PLAIN),
  during(
    'command-unmarked',
    'The same by a process of a command in a session of its own, with an empty environment',
    shell,
    UNMARKED,
  ),
];
const IDS = ['server', 'server-unmarked', 'command', 'command-unmarked'];

export const DURING_VERIFICATION: Stage = {
  name: 'other processes during verification',
  files: {
    '.gitignore': '*.seen\n*.passed\n',
    '.patchsmith.yml': 'mcp:\n  own: { command: node, args: [server.mjs], required: true }\n',
    'server.mjs': readFileSync(join(import.meta.dirname, '../../../support/mcp/server.mjs'), 'utf8'),
    ...Object.fromEntries(IDS.map((id) => [`${id}.txt`, 'bad\n'])),
  },
  args: [
    ...['--verify-in', 'worktree', '--fix-rounds', '0'],
    ...IDS.flatMap((id) => ['--verify', verify(id)]),
    ...['--verify-all', '--flaky-reruns', '0'],
  ],
  ends: 'verify_failed',
  attacks: ATTACKS,
};
