/** Plays the attacks of a stage in one run of the built command. */

import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { execa } from 'execa';
import type { ToolOutcome } from '../../src/domain/conversation/tool.ts';
import type { ScriptedCall } from '../support/claude-server/script.ts';
import { temporaryFolder } from '../support/files/repository.ts';
import { onOwnDisk } from '../support/machine/own-disk.ts';
import { processOf, watchMemory } from '../support/machine/peak-memory.ts';
import { commandLinesWith, killIfThere, processesWith } from '../support/machine/processes.ts';
import { WITHOUT_FILTERS, WITHOUT_NAMESPACES } from '../support/machine/without-filters.ts';
import { WITHOUT_OWN_PROC } from '../support/machine/without-own-proc.ts';
import { givenToNobody, makeNobodysOwn } from '../support/runs/as-nobody.ts';
import { CLI, type CliEnd } from '../support/runs/cli.ts';
import { type FinishedRun, scriptedRun } from '../support/runs/scripted-run.ts';
import { holdingEvents } from '../support/runs/valid-events.ts';
import { type Aftermath, type Attack, type Evidence, type Mode, type Stage, verdictOf } from './attack.ts';
import { formFound } from './canaries.ts';
import { stateOf, Victim } from './victim.ts';

const WRAPS = { unfiltered: WITHOUT_FILTERS, lite: WITHOUT_OWN_PROC, landlock: WITHOUT_NAMESPACES };

/** A stage after its run. */
export interface Scene {
  readonly run: FinishedRun;
  /** Ids of calls that have no result. */
  readonly untold: readonly string[];
  /** The most memory that the runner held, in bytes. */
  readonly peakBytes: number;
  evidenceOf(attack: Attack): Evidence;
  /** Where canaries have left the machine, each with its form. */
  leaks(): string[];
  close(): void;
}

/** The user who starts the runner: that of the tests, or one without privileges, which only root can become. */
export type As = 'tester' | 'nobody';

export async function carryOut(stage: Stage, mode: Mode, user: As): Promise<Scene> {
  const victim = await Victim.make(stage.files ?? {});
  const undo = (await stage.prepare?.(victim)) ?? (() => {});
  if (mode === 'landlock') await victim.separateGitDirs();
  const tried = stage.attacks.filter((attack) => verdictOf(attack, mode) !== 'untried');
  for (const { goal } of stage.attacks) if (goal.canary !== undefined) victim.canary(goal.canary);
  const watched = tried.flatMap(({ goal }) => goal.watches?.(victim) ?? []);
  const before = new Map(watched.map((path) => [path, stateOf(path)]));
  const turns = answersOf(tried, victim, stage.together);
  const words = stage.words ?? 'Done.';
  if (stage.plan !== undefined) victim.put(join(victim.folder, 'plan.md'), stage.plan);
  const memory = { peakBytes: 0 };
  const started: Started = user === 'nobody' ? await givenToNobody(victim.folder) : { wrap: [], env: {} };
  const filters = { contained: [], none: [], ...WRAPS }[mode];
  const run = await scriptedRun({
    ...started,
    repository: victim,
    runDir: victim.runDir,
    turns: [
      ...turns.map((turn, at) => (at === 0 ? { text: words, ...turn } : turn)),
      { text: words },
      ...reviewsOf(stage, victim),
    ],
    ...(stage.plan === undefined ? {} : { plan: join(victim.folder, 'plan.md') }),
    args: [
      ...['--sandbox', mode === 'none' ? 'off' : 'required', '--max-iterations', '500'],
      // Every result is looked up in what the model is finally sent.
      '--compaction',
      'none',
      ...argsIn(mode, stage),
    ],
    env: { ...started.env, HOME: victim.home, ...stage.env?.(victim) },
    // Only root can cover parts of `/proc`.
    wrap: [...diskFor(stage, victim), ...filters, ...started.wrap],
    during: async ({ pid }) => watchMemory(await processOf(process.execPath, pid), memory),
  }).finally(undo);
  const later = laterCommand(victim, { ...started, wrap: [...filters, ...started.wrap] });
  const cli: Aftermath['cli'] = async (...line) => {
    // What the stage has created since the run belongs to the user, too.
    if (user === 'nobody') await makeNobodysOwn(victim.folder);
    return later(...line);
  };
  await stage.afterwards?.({ victim, mode, run, cli });
  // A later look would find fewer: processes end by themselves.
  const survivors = [...commandLinesWith(victim.nonce).values()];
  const results = resultsOf(run);
  return {
    run,
    untold: turns.flatMap(({ calls }) => calls.map(({ id }) => id)).filter((id) => !results.has(id)),
    peakBytes: memory.peakBytes,
    evidenceOf(attack) {
      const own = [...results].filter(([id]) => id.startsWith(`${attack.id}_`)).map(([, outcome]) => outcome);
      return {
        victim,
        mode,
        run,
        results: own,
        said: own.map(({ text }) => text).join('\n'),
        survivors,
        before: (path) => before.get(path) ?? 'not kept',
      };
    },
    leaks() {
      const open = new Set(
        stage.attacks.filter((attack) => verdictOf(attack, mode) !== 'held').map(({ goal }) => goal.canary),
      );
      const places = Object.entries(leaving(run));
      const kept = [...victim.canaries].filter(([name]) => !open.has(name));
      return places.flatMap(([place, text]) =>
        kept.flatMap(([name, value]) => {
          const form = formFound(text, value);
          return form === null ? [] : [`${name} in ${place}, ${form}`];
        }),
      );
    },
    close() {
      victim.listeners.close();
      for (const pid of processesWith(victim.nonce)) killIfThere(pid);
    },
  };
}

interface Started {
  readonly cli?: string;
  readonly wrap: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Longer than anything that ends by itself. */
const HANGS_AFTER_MS = 120_000;

function laterCommand({ root, home }: Victim, { cli: built = CLI, wrap, env }: Started): Aftermath['cli'] {
  return async (args, more = {}): Promise<CliEnd> => {
    const [program = '', ...line] = [...wrap, process.execPath, built, ...args];
    const started = { args, cwd: root, env: { PATH: process.env.PATH, HOME: home, ...env, ...more } };
    const { exitCode, stdout, stderr } = await holdingEvents(started, () =>
      execa(program, line, {
        cwd: root,
        env: started.env,
        extendEnv: false,
        reject: false,
        stdin: 'ignore',
        timeout: HANGS_AFTER_MS,
        killSignal: 'SIGKILL',
        stripFinalNewline: false,
      }),
    );
    return { exitCode, stdout, stderr, lastLine: stderr.trimEnd().split('\n').at(-1) ?? '' };
  };
}

function diskFor({ diskBytes }: Stage, { folder, runDir }: Victim): string[] {
  return diskBytes === undefined ? [] : onOwnDisk(folder, basename(runDir), temporaryFolder(), diskBytes);
}

/** Landlock shows no caches, and a run that names one is refused. */
function argsIn(mode: Mode, { args = [] }: Stage): readonly string[] {
  const isOfCache = (at: number) => args[at] === '--cache' || args[at - 1] === '--cache';
  return mode === 'landlock' ? args.filter((_, at) => !isOfCache(at)) : args;
}

/** Commands name git dirs where these are; paths of tools stay as they are. */
function movedIn(one: ScriptedCall, victim: Victim): ScriptedCall {
  const command = one.input?.command;
  return typeof command === 'string'
    ? { ...one, input: { ...one.input, command: victim.moved(command) } }
    : one;
}

/** The answers of the model; every call's id names its attack. */
function answersOf(attacks: readonly Attack[], victim: Victim, together?: number) {
  const answers = attacks.map((attack) =>
    (attack.does?.(victim) ?? []).map((calls, turn) =>
      calls.map((one, at) => ({ ...movedIn(one, victim), id: `${attack.id}_${turn}_${at}` })),
    ),
  );
  if (together === undefined) return answers.flat().map((calls) => ({ calls }));
  const count = Math.ceil(answers.length / together);
  return Array.from({ length: count }, (_, at) => ({
    calls: answers.slice(at * together, (at + 1) * together).flat(2),
  })).filter(({ calls }) => calls.length > 0);
}

/** The number of times that a reviewer is asked. */
function reviewsOf({ reviewer }: Stage, victim: Victim) {
  const calls = reviewer?.(victim);
  return calls === undefined ? [] : [{ calls }, { calls }, { calls }];
}

function resultsOf(run: FinishedRun): Map<string, ToolOutcome> {
  return new Map(
    run.events.flatMap((event) => (event.type === 'tool.completed' ? [[event.call, event.outcome]] : [])),
  );
}

/** Everything that a run prints, sends and leaves, except the objects of its own repositories. */
function leaving(run: FinishedRun): Record<string, string> {
  const files = readdirSync(run.runDir, { withFileTypes: true }).filter((entry) => entry.isFile());
  return {
    stdout: run.stdout,
    stderr: run.stderr,
    'requests to the model': run.server.requests.map(({ bytes }) => bytes).join('\n'),
    ...Object.fromEntries(files.map(({ name }) => [name, readFileSync(join(run.runDir, name), 'latin1')])),
  };
}
