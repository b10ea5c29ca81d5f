/** Containers that differ from a machine: nodes that are mounts of their own, root with fewer capabilities, sources that vanish. */

import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { call, scriptedRun } from '../../support/runs/scripted-run.ts';
import { sampled } from '../../support/setup/sample.ts';

const isRoot = process.getuid?.() === 0;
/** `chown` to the owner that they have: refused on a read-only mount, and harmless otherwise. */
const TRY_ALL =
  'for node in full null random tty urandom zero; do chown 0 /dev/$node 2> /dev/null && echo changed $node; done; true';
const WITHOUT_MOUNTING = ['setpriv', '--bounding-set', '-sys_admin', '--inh-caps', '-sys_admin'];
const inNamespace = (script: string) => ['unshare', '-m', 'sh', '-c', `${script}; exec "$@"`, 'sh'];
const BOUND = 'for node in full null tty zero; do mount --bind /dev/$node /dev/$node; done';

const CONTAINERS: [string, string[]][] = [
  ['nodes that are mounts of their own', inNamespace(BOUND)],
  ['a /dev as in a container', inNamespace('mount -o remount,bind,nosuid,noexec /dev')],
  ['root without CAP_SYS_ADMIN', WITHOUT_MOUNTING],
  ['both', [...inNamespace(BOUND), ...WITHOUT_MOUNTING]],
];

test.runIf(isRoot).each(sampled(CONTAINERS, () => 'container', 3))(
  'commands change no device node: %s',
  async (_name, wrap) => {
    const repository = await makeRepository({ 'x.js': 'x\n' });
    const turns = [{ calls: [call('run_command', { command: TRY_ALL })] }, { text: 'Done.' }];
    const run = await scriptedRun({ repository, turns, wrap, built: true, args: ['--sandbox', 'required'] });
    expect(run.result.outcome, run.stderr).toBe('no_change');
    expect(run.events).toContainEqual(
      expect.objectContaining({ outcome: expect.objectContaining({ text: '[exit code 0]' }) }),
    );
  },
);

test.runIf(isRoot)('root that may make no namespaces is refused with what to do', async () => {
  const repository = await makeRepository({ 'x.js': 'x\n' });
  const run = await scriptedRun({
    repository,
    turns: [],
    wrap: ['setpriv', '--bounding-set', '-all', '--inh-caps', '-all'],
    built: true,
    args: ['--sandbox', 'required'],
  });
  expect(run.exitCode).toBe(10);
  expect(run.result.reason).toMatch(/bubblewrap cannot start .*may not create namespaces\. Start it with/);
});

const PUT = [
  ['removed', (_path: string): void => undefined, 'is gone', 'usage_error'],
  // The verification has a sandbox of its own, which opens with what is there.
  ['replaced', (path: string): unknown => mkdirSync(path), 'was replaced since the run began', 'done'],
  ['replaced with a link', (path: string): void => symlinkSync('/', path), 'was replaced', 'usage_error'],
] as const;

test.each(sampled(PUT, () => 'put', 1))(
  'a mounted folder that is %s is not shown, and never ends a run as a bug',
  async (_name, put, said, outcome) => {
    const repository = await makeRepository({ 'x.js': 'x\n' });
    const folder = join(temporaryFolder(), 'shown');
    mkdirSync(folder);
    const run = await scriptedRun({
      repository,
      turns: [
        {
          calls: [
            call('run_command', {
              command: 'touch go; until [ -e went ]; do sleep 0.1; done; rm -r go went; echo y > x.js',
            }),
          ],
        },
        { calls: [call('run_command', { command: 'true' })] },
        { text: 'Done.' },
      ],
      built: true,
      args: ['--sandbox', 'required', '--mount', folder, '--verify', 'grep -q . x.js'],
      during: async () => {
        const isSeen = () => existsSync(join(repository.root, 'go'));
        for (let tries = 0; tries < 600 && !isSeen(); tries++) await setTimeout(50);
        rmSync(folder, { recursive: true });
        put(folder);
        mkdirSync(join(repository.root, 'went'));
      },
    });
    expect(run.result.outcome, run.stderr).toBe(outcome);
    expect(JSON.stringify(run.events)).toContain(`${folder} ${said}`);
  },
);
