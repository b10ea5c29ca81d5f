/** The setup of a hosted runner, on machines made of stand-ins for the programs that change something. */

import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { readInputs } from '../../src/action/read-inputs.ts';
import { isSetupDue, type SetupMachine, setUpSandbox } from '../../src/action/sandbox-setup.ts';
import { APPARMOR_PROFILE, readMachineFacts } from '../../src/adapters/sandboxes/bubblewrap/unavailable.ts';
import { tempFolder } from '../support/files/temp-folder.ts';
import { isRunning, oddSeconds } from '../support/machine/processes.ts';
import { until } from '../support/waiting/until.ts';

afterEach(() => vi.unstubAllEnvs());

interface Parts {
  readonly bwrap: 'missing' | 'works' | 'is refused';
  /** Whether AppArmor restricts namespaces. */
  readonly restricted?: boolean;
  readonly inContainer?: boolean;
  readonly isRoot?: boolean;
  /** Shell commands in place of what `apt-get install` does. */
  readonly install?: string;
  readonly sudo?: string;
}

interface Machine extends SetupMachine {
  /** What the programs were asked, in order. */
  done(): string[];
  /** The text of a file that they left; empty when there is none. */
  left(name: string): string;
}

function machine({
  bwrap,
  restricted = false,
  inContainer = false,
  isRoot = false,
  ...parts
}: Parts): Machine {
  const folder = tempFolder();
  const at = (name: string) => join(folder, name);
  const program = (name: string, script: string) => {
    writeFileSync(at(name), `#!/bin/sh\n${script}\n`);
    chmodSync(at(name), 0o755);
  };
  for (const name of ['timeout', 'kill'])
    symlinkSync(execFileSync('which', [name], { encoding: 'utf8' }).trim(), at(name));
  const record = (name: string) => `echo "${name} $*" >> ${at('done')}; env >> ${at('environment')}`;
  const refusing = `[ -e ${at('permitted')} ] || { echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1; }`;
  if (bwrap !== 'missing') program('bwrap', bwrap === 'works' ? 'exit 0' : refusing);
  program('ready-bwrap', restricted ? refusing : 'exit 0');
  const { install = `cp ${at('ready-bwrap')} ${at('bwrap')}`, sudo = 'shift; exec "$@"' } = parts;
  program('sudo', `echo "sudo $1" >> ${at('done')}; ${sudo}`);
  program('apt-get', `${record('apt-get')}; [ "$1" = install ] || exit 0; ${install}`);
  program('tee', `${record('tee')}; cat > ${at('profile')}`);
  program('apparmor_parser', `${record('apparmor_parser')}; : > ${at('permitted')}`);
  const left = (name: string) => (existsSync(at(name)) ? readFileSync(at(name), 'utf8') : '');
  return {
    find: (name) => (existsSync(at(name)) ? at(name) : null),
    isRoot,
    facts: () => ({
      ...readMachineFacts(),
      apparmorRestrictsUserns: restricted ? '1\n' : '0\n',
      inContainer,
    }),
    done: () => left('done').split('\n').filter(Boolean),
    left,
  };
}

async function setUp(on: Machine, signal = new AbortController().signal) {
  const said: string[] = [];
  const failed = await setUpSandbox({ machine: on, signal, say: (line) => said.push(line) });
  return { failed, said, done: on.done() };
}

const INSTALLED = [
  'apt-get update -q',
  'apt-get install -y -q --no-install-recommends -o DPkg::Lock::Timeout=60 bubblewrap',
];
const PERMITTED = ['tee /etc/apparmor.d/bwrap', 'apparmor_parser -r /etc/apparmor.d/bwrap'];
const bySudo = (commands: string[]) => commands.flatMap((command) => ['sudo -n', command]);
const INSTALLING = 'bubblewrap is not installed: apt-get update, apt-get install bubblewrap';
const LOADING =
  'AppArmor does not let bubblewrap create namespaces: loading /etc/apparmor.d/bwrap, which permits it';

describe('bubblewrap', () => {
  test('that works is left alone, without a word', async () => {
    expect(await setUp(machine({ bwrap: 'works', restricted: true }))).toEqual({
      failed: null,
      said: [],
      done: [],
    });
  });

  test('that is missing is installed and permitted, with the profile of the message that says what to type', async () => {
    const on = machine({ bwrap: 'missing', restricted: true });
    expect(await setUp(on)).toEqual({
      failed: null,
      said: [INSTALLING, LOADING, 'bubblewrap works'],
      done: bySudo([...INSTALLED, ...PERMITTED]),
    });
    expect(on.left('profile')).toBe(APPARMOR_PROFILE);
  });

  test('that is there and refused is permitted only, and root needs no sudo', async () => {
    expect(await setUp(machine({ bwrap: 'is refused', restricted: true, isRoot: true }))).toEqual({
      failed: null,
      said: [LOADING, 'bubblewrap works'],
      done: PERMITTED,
    });
    expect((await setUp(machine({ bwrap: 'missing' }))).done).toEqual(bySudo(INSTALLED));
  });
});

test('no command gets anything of the environment', async () => {
  vi.stubEnv('ANTHROPIC_API_KEY', 'sk-ant-none-0123456789');
  vi.stubEnv('ACTIONS_RUNTIME_TOKEN', 'a-token-of-the-job');
  const on = machine({ bwrap: 'missing', restricted: true });
  await setUp(on);
  const names = new Set(on.left('environment').match(/^\w+(?==)/gm));
  expect([...names].filter((name) => !['PWD', 'SHLVL', '_', 'OLDPWD'].includes(name)).sort()).toEqual([
    'LC_ALL',
    'PATH',
  ]);
});

describe('what fails is named', () => {
  test.each<[string, Parts, string]>([
    [
      'an installation',
      {
        bwrap: 'missing',
        install: 'echo Reading; echo "E: Unable to locate package bubblewrap" >&2; exit 100',
      },
      'apt-get install: E: Unable to locate package bubblewrap',
    ],
    [
      'sudo that wants a password',
      { bwrap: 'missing', sudo: 'echo "sudo: a password is required" >&2; exit 1' },
      'apt-get update: sudo: a password is required; apt-get install: sudo: a password is required',
    ],
    [
      'a container, in which no profile helps',
      { bwrap: 'is refused', restricted: true, inContainer: true },
      'it cannot fix why bubblewrap does not work here',
    ],
  ])('%s', async (_, parts, why) => {
    const { failed, said, done } = await setUp(machine(parts));
    expect(failed).toBe(`The action could not set up the sandbox: ${why}`);
    expect(said.at(-1)).toBe(failed);
    expect(done.join()).not.toContain('apparmor');
  });
});

test('a cancel ends the command that is running, and begins no other', async () => {
  const marker = oddSeconds();
  const on = machine({ bwrap: 'missing', restricted: true, install: `exec sleep ${marker}` });
  const cancel = new AbortController();
  const ending = setUp(on, cancel.signal);
  await until('apt-get runs', () => isRunning(marker));
  cancel.abort();
  expect((await ending).failed).toBe(null);
  expect(isRunning(marker)).toBe(false);
  // The last one is for the signal.
  expect(on.done()).toEqual([...bySudo(INSTALLED), 'sudo -n']);
});

test('it is due for runs in a sandbox, on runners that GitHub hosts', () => {
  const hosted = { RUNNER_ENVIRONMENT: 'github-hosted' };
  const isDue = (inputs: Record<string, string>, env: Record<string, string> = hosted) =>
    isSetupDue(readInputs(inputs), env);
  expect([isDue({}), isDue({ INPUT_MODE: 'run-and-publish' })]).toEqual([true, true]);
  expect(
    [
      isDue({}, { RUNNER_ENVIRONMENT: 'self-hosted' }),
      isDue({}, {}),
      isDue({ 'INPUT_SANDBOX-SETUP': 'off' }),
      isDue({ INPUT_MODE: 'publish' }),
      isDue({ INPUT_SANDBOX: 'off' }),
      isDue({}, { ...hosted, PATCHSMITH_SANDBOX: 'off' }),
    ].filter(Boolean),
  ).toEqual([]);
});
