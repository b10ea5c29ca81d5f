/** The common containers of CI, made by podman with runc: what contains commands there, and that it does. */

import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { separated, temporaryFolder } from '../../support/files/repository.ts';
import {
  CLI_INSIDE,
  dockersProfile,
  inContainer,
  whyNoContainers,
} from '../../support/machine/containers.ts';
import { call, scriptedRun } from '../../support/runs/scripted-run.ts';
import { sampled } from '../../support/setup/sample.ts';

const why = await whyNoContainers();
const docker = why === null ? ['--security-opt', `seccomp=${dockersProfile()}`] : [];
const restricted = ['--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'];

const KUBERNETES = [...docker, ...restricted, '--read-only', '--read-only-tmpfs=false', '--unsetenv', 'HOME'];

const CONTAINERS: readonly [what: string, uid: number, level: string, options: readonly string[]][] = [
  ['Docker, as root', 0, 'landlock', docker],
  ['Docker, as a user', 1000, 'landlock', docker],
  ['Kubernetes, restricted', 1000, 'landlock', KUBERNETES],
  ['OpenShift', 1_000_650_000, 'landlock', [...docker, ...restricted, '--env', 'HOME=/']],
  ['podman', 0, 'namespaces-lite', []],
];

const SERVER = `require('http').createServer((q, r) => r.end('served')).listen(0, async function () { console.log(await (await fetch('http://localhost:' + this.address().port)).text()); process.exit() })`;

test.for(sampled(CONTAINERS, ([, , level]) => level))(
  'commands are contained in a container of %s',
  async ([, uid, level, options], context) => {
    context.skip(why !== null, why ?? '');
    const repository = await separated({ 'a.txt': 'a\n' });
    const gitDir = readFileSync(join(repository.root, '.git'), 'utf8').slice('gitdir: '.length).trim();
    const place = temporaryFolder();
    mkdirSync(join(place, 'state'));
    await execa('chown', ['-R', `${uid}:0`, place, repository.root, join(gitDir, '..')]);
    const planted = join(place, 'planted');
    const commands = [
      'echo b > a.txt',
      `node -e "${SERVER}"`,
      `cat /etc/shadow ${gitDir}/config; echo x > ${planted}; kill -9 $PPID; echo ended`,
    ];
    const run = await scriptedRun({
      repository,
      cli: CLI_INSIDE,
      runDir: join(place, 'run'),
      env: { XDG_STATE_HOME: join(place, 'state') },
      wrap: inContainer(['--user', `${uid}:0`, ...options]),
      args: ['--sandbox', 'required', '--verify', 'grep -q b a.txt'],
      turns: [
        ...commands.map((command) => ({ calls: [call('run_command', { command })] })),
        { text: 'Done.' },
      ],
    });
    expect([run.result.sandbox, run.result.outcome], run.stderr).toEqual([level, 'done']);
    const said = run.events.flatMap((event) => (event.type === 'tool.completed' ? [event.outcome.text] : []));
    expect(said[1]).toContain('served');
    expect(said[2]).toContain('ended');
    expect(said[2]).not.toMatch(/root:|\[core\]/);
    expect(existsSync(planted)).toBe(false);
    expect(run.patch).toContain('+b');
  },
);
