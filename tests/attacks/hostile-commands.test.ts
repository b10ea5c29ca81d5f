/** Random sequences of hostile commands and tool calls, and what must hold after each run, whatever they were. */

import { chmodSync, lstatSync, readdirSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { execa } from 'execa';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ScriptedCall } from '../support/claude-server/script.ts';
import { watchMemory } from '../support/machine/peak-memory.ts';
import {
  commandLinesWith,
  killIfThere,
  processesSeeing,
  processesWith,
} from '../support/machine/processes.ts';
import { givenToNobody, isRoot } from '../support/runs/as-nobody.ts';
import { call, type FinishedRun, scriptedRun } from '../support/runs/scripted-run.ts';
import { fuzzRuns, IS_FULL, MATRIX_MS } from '../support/setup/sample.ts';
import { formFound } from './canaries.ts';
import { hostileSequence } from './hostile-sequences.ts';
import { stateOf, Victim } from './victim.ts';

/**
 * The same ones each time, so that no change fails by chance; `PATCHSMITH_FUZZ_SEED` and `PATCHSMITH_FUZZ_SEQUENCES`
 * try others and more.
 */
const SEQUENCES = Number(env.PATCHSMITH_FUZZ_SEQUENCES ?? fuzzRuns('sequences'));
/** From here on, commands reach protected files, which two batches earlier they did not. */
const SEED = Number(env.PATCHSMITH_FUZZ_SEED ?? 13);
/** By day there are two runs, one of each user. */
const A_RUN = Math.min(20, SEQUENCES / 2);
const MAX_RUNNER_BYTES = 400 * 1024 * 1024;

interface Batch {
  readonly seed: number;
  readonly user: 'somebody else' | 'whoever runs the tests';
}

const batches = Array.from(
  { length: Math.ceil(SEQUENCES / A_RUN) },
  (_, at): Batch => ({
    seed: SEED + at,
    user: isRoot && at % 2 === 1 ? 'somebody else' : 'whoever runs the tests',
  }),
);

test.concurrent.each(batches)(
  'hostile sequences of seed $seed, as $user',
  async (batch) => {
    await carryOut(batch);
  },
  MATRIX_MS,
);

/** The time that a run has after its deadline, on a machine with a load of up to three per core; more above that. */
const graceMs = () => 5_000 * Math.max(1, (loadavg()[0] ?? 0) / (3 * availableParallelism()));
/** A busy machine may take longer once; a runner that misses its deadline takes longer each time. */
const TRIES = 3;

test.concurrent.each(batches.filter((_, at) => (IS_FULL ? at % 10 < 2 : at === 1)))(
  'a deadline in the midst of the sequences of seed $seed is kept to within five seconds, as $user',
  async (batch) => {
    // Another moment for each seed.
    const seconds = 4 + (batch.seed % 5);
    const late: number[] = [];
    do {
      const elapsedMs = await carryOut(batch, ['--deadline', `${seconds}s`]);
      late.push(Math.max(0, elapsedMs - seconds * 1_000 - graceMs()));
    } while (!late.includes(0) && late.length < TRIES);
    expect(late).toContain(0);
  },
  MATRIX_MS,
);

/** Plays a batch in one run, looks at what must hold afterwards, and says how many milliseconds the run took. */
async function carryOut({ seed, user }: Batch, args: readonly string[] = []): Promise<number> {
  const victim = await victimOf(seed);
  const calls = fc.sample(hostileSequence, { numRuns: A_RUN, seed }).flat();
  const guarded = ['outside', 'home', 'root/.git'].map((name) => join(victim.folder, name));
  const before = guarded.map(stateOf);
  const protectedBefore = filesOf(join(victim.root, 'tests'));
  const memory = { peakBytes: 0 };
  try {
    const { run, elapsedMs } = await play(victim, calls, user === 'somebody else', memory, args);
    const leaving = [run.patch, run.stdout, run.stderr, ...run.server.requests.map(({ bytes }) => bytes)];
    const outside = guarded.filter((path, at) => stateOf(path) !== before[at]);
    await askGitEverywhere(victim.root);
    expect({
      outcome: run.result.outcome,
      outside,
      leaks: leaving.flatMap((text) =>
        [...victim.canaries].filter(([, value]) => formFound(text, value) !== null),
      ),
      tampered: tamperedWith(protectedBefore, filesOf(join(victim.root, 'tests')))
        .map((path) => path.slice(victim.root.length + 1))
        .filter((path) => !isReported(path, run, args.length > 0)),
      alive: [...commandLinesWith(victim.nonce).values(), ...processesSeeing(victim.root)],
      setId: setIdFiles(victim.root),
      sprung: victim.sprung('fsmonitor'),
      // Without a measurement the test has not succeeded.
      isSmall: memory.peakBytes > 0 && memory.peakBytes < MAX_RUNNER_BYTES ? true : memory.peakBytes,
    }).toEqual({
      outcome: expect.not.stringMatching(/^(?:running|internal_error)$/),
      outside: [],
      leaks: [],
      tampered: [],
      alive: [],
      setId: [],
      sprung: false,
      isSmall: true,
    });
    return elapsedMs;
  } finally {
    victim.listeners.close();
    for (const pid of processesWith(victim.nonce)) killIfThere(pid);
  }
}

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
  args: readonly string[],
): Promise<{ run: FinishedRun; elapsedMs: number }> {
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
  let startedAt = performance.now();
  const run = await scriptedRun({
    ...started,
    repository: victim,
    runDir: victim.runDir,
    turns: [...turns, { text: 'Done.' }],
    args: ['--sandbox', 'required', '--max-iterations', '500', '--protect', 'tests/**', ...args],
    env: { ...started.env, HOME: victim.home, XDG_STATE_HOME: join(victim.folder, 'state') },
    async during({ pid }) {
      startedAt = performance.now();
      await watchMemory(pid, memory);
    },
  });
  return { run, elapsedMs: performance.now() - startedAt };
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

/** What git would know about its files: path, kind, executable bit and content. */
function filesOf(folder: string): string[] {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  if (stat === undefined) return [];
  const paths = stat.isDirectory() ? pathsBelow(folder) : [folder];
  return paths
    .filter((path) => !lstatSync(path).isDirectory())
    .map(
      (path) =>
        `${path} ${stateOf(path).replace(/^[0-7]{3} /, (mode) => ((Number.parseInt(mode, 8) & 0o100) === 0 ? '' : 'executable '))}`,
    );
}

/** The paths of `filesOf` that differ from before. */
function tamperedWith(before: readonly string[], after: readonly string[]): string[] {
  const changed = [
    ...before.filter((one) => !after.includes(one)),
    ...after.filter((one) => !before.includes(one)),
  ];
  return [...new Set(changed.map((one) => one.split(' ', 1)[0] ?? ''))];
}

/**
 * Whether a run that fails because of the path names it as one that it could not revert or examine. A run that is cut
 * short may find it too late, and says so with its outcome.
 */
function isReported(path: string, { result, events }: FinishedRun, isCutShort: boolean): boolean {
  if (result.outcome !== 'policy_violation') return false;
  const named = events.flatMap((event) =>
    event.type === 'changes.put_back'
      ? event.stuck.map((one) => one.path)
      : event.type === 'files.hidden'
        ? event.paths
        : [],
  );
  return named.includes(path) || (isCutShort && result.reason.includes(path));
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
