/** Random sequences of hostile commands and tool calls, and what must hold after each run, whatever they were. */

import { chmodSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { execa } from 'execa';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import type { ScriptedCall } from '../support/claude-server/script.ts';
import { removeFolders } from '../support/files/repository.ts';
import { watchMemory } from '../support/machine/peak-memory.ts';
import {
  commandLinesWith,
  killIfThere,
  processesSeeing,
  processesWith,
} from '../support/machine/processes.ts';
import { givenToNobody, isRoot } from '../support/runs/as-nobody.ts';
import { call, type FinishedRun, scriptedRun } from '../support/runs/scripted-run.ts';
import { IS_FULL, MATRIX_MS } from '../support/setup/sample.ts';
import { formFound } from './canaries.ts';
import { stateOf, Victim } from './victim.ts';

afterAll(removeFolders);

/** The same ones each time, so that nobody's change fails by chance; `PATCHSMITH_FUZZ_SEED` and `PATCHSMITH_FUZZ_SEQUENCES` try others and more. */
const SEQUENCES = Number(env.PATCHSMITH_FUZZ_SEQUENCES ?? (IS_FULL ? 2000 : 40));
const SEED = Number(env.PATCHSMITH_FUZZ_SEED ?? 11);
const A_RUN = 20;
const MAX_RUNNER_BYTES = 400 * 1024 * 1024;

const PLACES = [
  ...[
    'a.txt',
    'src',
    'src/x.js',
    'tests',
    'tests/t.js',
    'tests/deep/u.js',
    'vendor',
    'vendor/sub',
    'vendor/sub/s.txt',
  ],
  ...['vendor/sub/.git', 'kept', 'kept/k', 'new', 'new/deep', 'new/deep/n.txt', '.git', '.gitignore', '.'],
];
const place = fc.constantFrom(...PLACES);
const mode = fc.constantFrom(
  '000',
  '111',
  '444',
  '555',
  '644',
  '755',
  '2755',
  '4755',
  'u-w',
  'a-x',
  'g+s,u+s',
);

const RENAMEAT2 = process.arch === 'arm64' ? 276 : 316;
const PTRACE = process.arch === 'arm64' ? 117 : 101;

/** Shell text; `V` stands for the victim's folder, `N` for its nonce. */
const command = fc.oneof(
  fc.tuple(mode, place).map(([how, at]) => `chmod ${how} ${at}`),
  fc.tuple(mode, place).map(([how, at]) => `chmod -R ${how} ${at}`),
  fc.tuple(place, place).map(([from, to]) => `mv ${from} ${to}`),
  fc.tuple(place, place).map(([from, to]) => `mv -T ${from} ${to}; mkdir -p ${from}`),
  fc
    .tuple(place, place)
    .map(
      ([one, other]) =>
        `perl -e 'my ($p, $q) = @ARGV; syscall(${RENAMEAT2}, -100, $p, -100, $q, 2)' ${one} ${other}`,
    ),
  fc
    .tuple(place, place)
    .map(
      ([one, other]) =>
        `ln -s V/outside swapped; (setsid perl -e 'my ($p, $q) = @ARGV; syscall(${RENAMEAT2}, -100, $p, -100, $q, 2) while 1' ${one} swapped N &); cat ${other}/* | head -c 100`,
    ),
  place.map((at) => `ln -sfn V/outside ${at}`),
  place.map((at) => `rm -rf ${at}; ln -s V/outside ${at}`),
  place.map((at) => `ln -f V/outside/canary ${at}; ln -f ${at} linked`),
  place.map((at) => `rm -rf ${at}`),
  place.map((at) => `echo tampered >> ${at}`),
  place.map((at) => `rm -rf ${at}; mkfifo ${at}`),
  place.map((at) => `truncate -s 2M ${at}`),
  place.map((at) => `mkdir -p ${at} && cp /bin/sh ${at}/shell && chmod 4755 ${at}/shell`),
  place.map((at) => `git init -q ${at}; git -C ${at} config core.fsmonitor V/traps/fsmonitor`),
  place.map(
    (at) =>
      `mkdir -p ${at}; git init -q --bare planted; git -C planted config core.fsmonitor V/traps/fsmonitor; echo "gitdir: $PWD/planted" > ${at}/.git`,
  ),
  place.map(
    (at) =>
      `git init -q --bare ${at}; git -C ${at} config core.bare false; git -C ${at} config core.worktree .; git -C ${at} config core.fsmonitor V/traps/fsmonitor; echo x > ${at}/refs/keep; echo x > ${at}/objects/keep`,
  ),
  place.map(
    (at) =>
      `printf '* filter=trap\\n' > ${at}/.gitattributes; git config --global filter.trap.clean V/traps/fsmonitor`,
  ),
  place.map((at) => `printf '%s\\n' '**/a/**/b' '*' '!keep' > ${at}/.gitignore`),
  place.map((at) => `git mv ${at} moved; git stash; git clean -fdx; git checkout -f HEAD~0`),
  fc.constantFrom(
    'cat V/outside/canary V/home/.netrc /etc/shadow /proc/1/environ',
    'echo tampered > V/outside/canary; echo tampered > V/home/.netrc; touch V/outside/new',
    "(setsid sh -c 'while :; do echo alive >> a.txt; sleep 0.01; done' N &)",
    "(trap '' TERM; setsid sleep 300 N & ) ; kill -STOP $$",
    'kill -9 -1',
    'kill -STOP 1; kill -9 1; kill -INT 1 $PPID',
    `perl -e 'syscall(${PTRACE}, 0x4206, $_, 0, 0) for 1, getppid; syscall(438, syscall(434, 1, 0), 3, 0)'`,
    'umask 777; mkdir -p new/deep; echo x > new/deep/closed',
    'find . -path ./.git -prune -o -print0 | xargs -0 chmod 000',
    'head -c 3000000 /dev/zero | tr "\\0" "\\n" > lines.txt',
    'for i in $(seq 200); do echo $i > many-$i; done',
    'mkdir -p $(printf "d/%.0s" $(seq 60))',
  ),
);
const tool = fc.oneof(
  place.map((path) => call('read_file', { path })),
  place.map((path) => call('write_file', { path, content: 'written\n' })),
  place.map((path) => call('edit_file', { path, find: 'a', replace: 'b' })),
  place.map((path) => call('list_files', { path })),
  place.map((path) => call('search', { path, pattern: 'cnry|root:|[a-z]' })),
);
const sequence = fc.array(
  fc.oneof(
    {
      arbitrary: command.map((text) => call('run_command', { command: text, timeout_seconds: 2 })),
      weight: 2,
    },
    { arbitrary: tool, weight: 1 },
  ),
  { minLength: 1, maxLength: 5 },
);

const runs = Array.from({ length: Math.ceil(SEQUENCES / A_RUN) }, (_, at) => ({
  seed: SEED + at,
  user: isRoot && at % 2 === 1 ? ('somebody else' as const) : ('whoever runs the tests' as const),
}));

test.concurrent.each(runs)(
  'twenty hostile sequences of seed $seed, as $user',
  async ({ seed, user }) => {
    const victim = await victimOf(seed);
    const calls = fc.sample(sequence, { numRuns: A_RUN, seed }).flat();
    const guarded = ['outside', 'home', 'root/.git'].map((name) => join(victim.folder, name));
    const before = guarded.map(stateOf);
    const protectedBefore = filesOf(join(victim.root, 'tests'));
    const memory = { peakBytes: 0 };
    try {
      const run = await play(victim, calls, user === 'somebody else', memory);
      const leaving = [run.patch, run.stdout, run.stderr, ...run.server.requests.map(({ bytes }) => bytes)];
      const outside = guarded.filter((path, at) => stateOf(path) !== before[at]);
      await askGitEverywhere(victim.root);
      expect({
        outcome: run.result.outcome,
        outside,
        leaks: [...victim.canaries].filter(([, value]) =>
          leaving.some((text) => formFound(text, value) !== null),
        ),
        // What cannot be put back is the outcome of the run.
        protectedFiles:
          run.result.outcome === 'policy_violation' ? protectedBefore : filesOf(join(victim.root, 'tests')),
        alive: [...commandLinesWith(victim.nonce).values(), ...processesSeeing(victim.root)],
        setId: setIdFiles(victim.root),
        sprung: victim.sprung('fsmonitor'),
        tooLarge: memory.peakBytes < MAX_RUNNER_BYTES ? [] : [memory.peakBytes],
      }).toEqual({
        outcome: expect.not.stringMatching(/^(?:running|internal_error)$/),
        outside: [],
        leaks: [],
        protectedFiles: protectedBefore,
        alive: [],
        setId: [],
        sprung: false,
        tooLarge: [],
      });
    } finally {
      victim.listeners.close();
      for (const pid of processesWith(victim.nonce)) killIfThere(pid);
    }
  },
  MATRIX_MS,
);

/** A repository with protected tests, a repository within it and an ignored folder; secrets outside. */
async function victimOf(seed: number): Promise<Victim> {
  const victim = await Victim.make({
    '.gitignore': 'kept/\n',
    'src/x.js': 'export const x = 1;\n',
    'tests/t.js': 'test();\n',
    'tests/deep/u.js': 'test();\n',
    'kept/k': `kept ${seed}\n`,
    'vendor/v.txt': 'v\n',
  });
  victim.put(join(victim.outside, 'canary'), `${victim.canary('outside')}\n`);
  victim.put(join(victim.home, '.netrc'), `${victim.canary('home')}\n`);
  victim.trap('fsmonitor');
  const sub = join(victim.root, 'vendor/sub');
  victim.put(join(sub, 's.txt'), 's\n');
  await victim.gitIn(sub, 'init', '--quiet');
  await victim.gitIn(sub, 'add', '.');
  await victim.gitIn(sub, 'commit', '--quiet', '--message', 'Sub');
  return victim;
}

async function play(
  victim: Victim,
  calls: readonly ScriptedCall[],
  asNobody: boolean,
  memory: { peakBytes: number },
): Promise<FinishedRun> {
  const fill = (text: string) =>
    text.replaceAll('V/', `${victim.folder}/`).replaceAll(/\bN\b/g, victim.nonce);
  const turns = calls.map(({ name, input }) => ({
    calls: [
      call(
        name,
        name === 'run_command' ? { ...input, command: fill(String(input?.command)) } : (input ?? {}),
      ),
    ],
  }));
  const started = asNobody ? await givenToNobody(victim.folder) : { env: {} };
  return scriptedRun({
    ...started,
    repository: victim,
    runDir: victim.runDir,
    turns: [...turns, { text: 'Done.' }],
    args: ['--sandbox', 'required', '--max-iterations', '500', '--protect', 'tests/**'],
    env: { ...started.env, HOME: victim.home },
    during: ({ pid }) => watchMemory(pid, memory),
  });
}

/** Every path below a folder that is no link, the folder itself included. */
function pathsBelow(folder: string): string[] {
  chmodSync(folder, 0o755);
  return [
    folder,
    ...readdirSync(folder).flatMap((name) => {
      const path = join(folder, name);
      return lstatSync(path).isDirectory() ? pathsBelow(path) : [path];
    }),
  ];
}

/** What git would know of its files: path, kind, whether it can be executed, and content. */
function filesOf(folder: string): string[] {
  const paths = lstatSync(folder).isDirectory() ? pathsBelow(folder) : [folder];
  return paths
    .filter((path) => !lstatSync(path).isDirectory())
    .map(
      (path) =>
        `${path} ${stateOf(path).replace(/^[0-7]{3} /, (mode) => ((Number.parseInt(mode, 8) & 0o100) === 0 ? '' : 'executable '))}`,
    );
}

function setIdFiles(root: string): string[] {
  return pathsBelow(root).filter((path) => {
    const stats = lstatSync(path);
    return stats.isFile() && (stats.mode & 0o6000) !== 0;
  });
}

/**
 * As its user would next, wherever git could take a folder for a repository's; but not in what the user told it to ignore, nor
 * within the other repository, whose changes are named and in no patch.
 */
async function askGitEverywhere(root: string): Promise<void> {
  const folders = pathsBelow(root).filter((path) => {
    if (!lstatSync(path).isDirectory() || /\/(?:\.git|kept)(?:\/|$)|\/vendor\/sub\//.test(path)) return false;
    const names = readdirSync(path);
    return (
      path === root ||
      names.includes('.git') ||
      ['HEAD', 'objects', 'refs'].every((name) => names.includes(name))
    );
  });
  const config = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: '*' };
  for (const cwd of folders)
    await execa('git', ['status'], { cwd, env: config, reject: false, stdin: 'ignore', timeout: 10_000 });
}
