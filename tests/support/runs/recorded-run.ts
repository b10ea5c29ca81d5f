/** Runs in this process that can be cut off after every event, and carried on. */

import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { resumeRun } from '../../../src/commands/resume/resume.ts';
import { type SettingKey, Settings } from '../../../src/config/schema.ts';
import { problemLine } from '../../../src/domain/errors/problem.ts';
import type { RunEvent } from '../../../src/domain/run/events.ts';
import { RunResult } from '../../../src/domain/run/result.ts';
import { runPatchsmith } from '../../../src/engine/run.ts';
import type { RunInput } from '../../../src/engine/run-input.ts';
import type { ScriptedTurn } from '../claude-server/script.ts';
import { type ClaudeServer, startClaudeServer } from '../claude-server/server.ts';
import { answersIn, asksForSummary, summaryOf } from '../claude-server/summaries.ts';
import { copyLive } from '../files/live-copy.ts';
import { makeRepository, temporaryFolder } from '../files/repository.ts';
import { IS_FULL, sampled } from '../setup/sample.ts';
import { KEY } from './scripted-run.ts';
import { validEvents } from './valid-events.ts';

/** What a run left behind. */
export interface RunEnd {
  readonly result: RunResult;
  readonly events: RunEvent[];
  readonly patch: string;
  readonly stderr: string;
}

export interface CutRun extends RunEnd {
  readonly root: string;
  readonly runDir: string;
  readonly server: ClaudeServer;
  /** Makes work tree and run directory what they were right after an event, by its number; the rest never happened. */
  goBackTo(seq: number): void;
  /** `patchsmith resume`; code and reason when it was refused. */
  resume(asked?: {
    repo?: string;
    runDir?: string;
    acceptChanges?: boolean;
    /** Settings that are others than the run's, as given with flags. */
    today?: Partial<Settings>;
    interrupt?: AbortSignal;
    /** Copies are kept after the events of this part as well, to go back to. */
    keep?: boolean;
  }): Promise<RunEnd | string>;
}

/**
 * Carries out a run to its end and keeps a copy of everything after events, as a SIGKILL would leave it: after the first four
 * and the first of each kind, which `cutsOf` names, after every one of the type `each`, or after each event if `all` says so,
 * as in the full suite. `meddle` may change the work tree while the model thinks about its answer, counted from 0.
 */
export async function cutRun(
  files: Readonly<Record<string, string | Uint8Array>>,
  turns: readonly ScriptedTurn[],
  given: Partial<Settings> = {},
  meddle: (root: string, answer: number) => void = () => {},
  {
    prepare,
    all = IS_FULL,
    each,
    ...more
  }: Partial<Pick<RunInput, 'manyFiles' | 'atStage' | 'interrupt'>> & {
    prepare?: (root: string) => void;
    all?: boolean;
    each?: RunEvent['type'];
  } = {},
): Promise<CutRun> {
  const { root } = await makeRepository(files);
  prepare?.(root);
  const answer = patient(turns);
  const server = await startClaudeServer({
    turns: (request, index) => {
      meddle(root, index);
      return answer(request);
    },
    apiKey: KEY,
  });
  onTestFinished(() => server.close());
  const folder = temporaryFolder();
  const runDir = join(folder, 'run');
  const copyOf = (seq: number) => join(folder, `after-${seq}`);
  const settings: Settings = {
    ...Settings.parse({ repo: root, message: 'Do it', sandbox: 'off', output: 'jsonl', ...given }),
    runDir,
    baseUrl: server.url,
  };
  let seq = 0;
  const kinds = new Set<string>();
  const copying = sink((line) => {
    seq += 1;
    // Nothing is written once more when the stream is closed.
    const kind = line === '' ? '' : kindOf(JSON.parse(line) as RunEvent);
    if (!all && seq > 4 && kinds.has(kind) && kind !== each) return;
    kinds.add(kind);
    rmSync(copyOf(seq), { recursive: true, force: true });
    mkdirSync(copyOf(seq));
    copyLive(root, join(copyOf(seq), 'root'));
    copyLive(runDir, join(copyOf(seq), 'run'));
  });
  const input = { ...inputOf(settings, copying), ...more };
  await runPatchsmith(input);
  return {
    ...endOf(runDir, input.printed),
    root,
    runDir,
    server,
    goBackTo(at) {
      for (const [to, from] of [
        [root, 'root'],
        [runDir, 'run'],
      ] as const) {
        rmSync(to, { recursive: true, force: true });
        copyLive(join(copyOf(at), from), to);
      }
    },
    async resume({
      repo,
      runDir: moved = runDir,
      acceptChanges = false,
      today = {},
      keep = false,
      interrupt,
    } = {}) {
      if (keep) seq = endOf(runDir, []).events.length;
      if (keep) kinds.clear();
      const again = {
        ...inputOf(
          { ...settings, repo: repo ?? null, output: keep ? 'jsonl' : 'none', ...today },
          keep ? copying : sink(() => {}),
        ),
        cwd: root,
        ...(interrupt && { interrupt }),
      };
      const given = Object.keys(today) as SettingKey[];
      const resumed = await resumeRun(again, { run: moved, acceptChanges, given });
      if (resumed.status === 'refused') return resumed.problems.map(problemLine).join('; ');
      const { name, errorCode, reason } = resumed.outcome;
      const isRefusal = name === 'usage_error' || name === 'sandbox_unavailable';
      return isRefusal ? `[${errorCode}] ${reason}` : endOf(moved, again.printed);
    },
  };
}

/** The input of a run in this process; `printed` collects what it writes to stderr. */
export function inputOf(settings: Settings, stdout: Writable): RunInput & { printed: string[] } {
  const printed: string[] = [];
  const stderr = sink((text) => printed.push(text));
  return {
    settings,
    apiKey: KEY,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, XDG_STATE_HOME: temporaryFolder() },
    cwd: '/',
    stdin: Readable.from([]),
    stdout,
    stderr,
    interrupt: new AbortController().signal,
    now: Date.now,
    version: '0.0.0',
    startNotes: [],
    printed,
  };
}

/** Calls back at once with every piece that is written. */
export function sink(onText: (text: string) => void): Writable {
  return new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      // What throws here would leave whoever waits for the stream waiting for ever.
      try {
        onText(String(chunk));
        done();
      } catch (error) {
        done(Error('The test could not take what was printed.', { cause: error }));
      }
    },
  });
}

/** What a run left in its directory. */
export function endOf(runDir: string, printed: readonly string[]): RunEnd {
  const read = (name: string) => readFileSync(join(runDir, name), 'utf8');
  const result = RunResult.parse(JSON.parse(read('result.json')));
  return {
    result,
    events: validEvents(read('events.jsonl')),
    patch: result.patch === null ? '' : read('changes.patch'),
    stderr: printed.join(''),
  };
}

/**
 * The events after which `npm test` kills a run: one of each type, and the start of one call of each tool. The full suite
 * kills it after every event.
 */
export function cutsOf(events: readonly RunEvent[]): RunEvent[] {
  return sampled(events, kindOf);
}

function kindOf(event: RunEvent): string {
  return event.type === 'tool.started' ? `${event.type} ${event.call.name}` : event.type;
}

interface Said {
  readonly role: string;
  readonly content: readonly {
    readonly type: string;
    readonly id?: string;
    readonly name?: string;
    readonly input?: Record<string, unknown>;
    readonly tool_use_id?: string;
    readonly content?: unknown;
  }[];
}

/**
 * A model that gives the same answers however often it is asked, and makes calls again of which it is told that they were
 * interrupted. As a reviewer it gives the answer that is a review.
 */
export function patient(turns: readonly ScriptedTurn[]) {
  return (request: Record<string, unknown>): ScriptedTurn => {
    const messages = request.messages as readonly Said[];
    if (asksForSummary(request)) return summaryOf(request);
    const reviews = turns.filter(({ calls }) => calls?.some(({ name }) => name === REVIEW));
    if (JSON.stringify(request.tools).includes(`"name":"${REVIEW}"`)) return reviews[0] ?? { text: 'No.' };
    const asked = messages.filter(({ role }) => role === 'user').map(interruptedCalls);
    const answers = messages.filter(({ role }) => role === 'assistant');
    const again = asked.at(-1) ?? [];
    if (again.length > 0) {
      const blocks = (answers.at(-1)?.content ?? []).filter(({ id }) => again.includes(id ?? ''));
      return { calls: blocks.map(({ name = '', input = {} }) => ({ name, input })) };
    }
    const repeated = asked.filter((ids) => ids.length > 0).length;
    return turns[answersIn(request) - repeated] ?? { text: 'Done.' };
  };
}

const REVIEW = 'submit_review';

function interruptedCalls({ content }: Said): string[] {
  return content.flatMap((block) =>
    block.type === 'tool_result' &&
    JSON.stringify(block.content).includes('Interrupted: the runner was killed')
      ? [block.tool_use_id ?? '']
      : [],
  );
}
