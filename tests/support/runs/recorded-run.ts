/** Runs that can be cut off after every event, and carried on. */

import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { RunEvent, RunResult } from '../../../src/library.ts';
import type { ScriptedTurn } from '../claude-server/script.ts';
import { type ClaudeServer, startClaudeServer } from '../claude-server/server.ts';
import { answersIn, asksForSummary, summaryOf } from '../claude-server/summaries.ts';
import { copyLive } from '../files/live-copy.ts';
import { makeRepository, temporaryFolder } from '../files/repository.ts';
import { resultOf } from '../published.ts';
import { IS_FULL, sampled } from '../setup/sample.ts';
import type { CommandEnd, Given } from './fake-process.ts';
import { cliHere } from './in-process.ts';
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
    runDir?: string;
    /** Flags, which the run itself was not given. */
    today?: readonly string[];
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
  args: readonly string[] = [],
  meddle: (root: string, answer: number) => void = () => {},
  {
    prepare,
    all = IS_FULL,
    each,
    interrupt,
    carryOut = cliHere,
    whenOver = onTestFinished,
  }: {
    prepare?: (root: string) => void;
    all?: boolean;
    each?: RunEvent['type'];
    interrupt?: AbortSignal;
    /** What carries out a command line; default: the built command. */
    carryOut?: (args: readonly string[], given: Given) => Promise<CommandEnd>;
    /** Takes what ends its server; default: it ends with the test. */
    whenOver?: (end: () => Promise<void>) => void;
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
  whenOver(() => server.close());
  const folder = temporaryFolder();
  const runDir = join(folder, 'run');
  const copyOf = (seq: number) => join(folder, `after-${seq}`);
  const environment = () => ({
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    XDG_STATE_HOME: temporaryFolder(),
    ANTHROPIC_API_KEY: KEY,
    ANTHROPIC_BASE_URL: server.url,
  });
  let seq = 0;
  const kinds = new Set<string>();
  const keepCopy = (line: string) => {
    // Nothing is written once more when the stream is closed.
    if (line === '') return;
    const event = JSON.parse(line) as RunEvent | { type: 'result' };
    if (event.type === 'result') return;
    seq += 1;
    const kind = kindOf(event);
    if (!all && seq > 4 && kinds.has(kind) && kind !== each) return;
    kinds.add(kind);
    rmSync(copyOf(seq), { recursive: true, force: true });
    mkdirSync(copyOf(seq));
    copyLive(root, join(copyOf(seq), 'root'));
    copyLive(runDir, join(copyOf(seq), 'run'));
  };
  const task = args.includes('--plan') ? [] : ['-m', 'Do it'];
  const where = ['--repo', root, '--run-dir', runDir, '--output', 'jsonl', ...sandboxFor(args)];
  const { stderr } = await carryOut(['run', ...task, ...where, ...args], {
    cwd: '/',
    env: environment(),
    onStdout: keepCopy,
    ...(interrupt && { interrupt }),
  });
  return {
    ...endOf(runDir, stderr),
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
    async resume({ runDir: moved = runDir, today = [], keep = false, interrupt: stop } = {}) {
      if (keep) seq = endOf(runDir, '').events.length;
      if (keep) kinds.clear();
      const how = ['--output', keep ? 'jsonl' : 'json', ...sandboxFor([...args, ...today])];
      const end = await carryOut(['resume', moved, ...how, ...today], {
        cwd: root,
        env: environment(),
        ...(keep && { onStdout: keepCopy }),
        ...(stop && { interrupt: stop }),
      });
      const { type: _, ...last } = JSON.parse(
        end.stdout
          .trimEnd()
          .split(keep ? '\n' : '\0')
          .at(-1) ?? '',
      );
      const isRefusal = last.outcome === 'usage_error' || last.outcome === 'sandbox_unavailable';
      return isRefusal ? `[${last.errorCode}] ${last.reason}` : endOf(moved, end.stderr);
    },
  };
}

/** Commands are not contained, if nothing else is asked for. */
function sandboxFor(args: readonly string[]): string[] {
  return args.includes('--sandbox') ? [] : ['--sandbox', 'off'];
}

/** What a run left in its directory. */
export function endOf(runDir: string, stderr: string): RunEnd {
  const read = (name: string) => readFileSync(join(runDir, name), 'utf8');
  const result = resultOf(runDir);
  return {
    result,
    events: validEvents(read('events.jsonl')),
    patch: result.patch === null ? '' : read('changes.patch'),
    stderr,
  };
}

/**
 * The events after which `npm test` kills a run: one of each type, and the start of one call of each tool. The full suite
 * kills it after every event.
 */
export function cutsOf(events: readonly RunEvent[]): RunEvent[] {
  return sampled(events, kindOf);
}

/** What is resumed in the same way: reads run again, writes are compared, and commands are answered. */
const ALIKE: Readonly<Record<string, string>> = {
  list_files: 'read_file',
  search: 'read_file',
  edit_file: 'write_file',
};

function kindOf(event: RunEvent): string {
  return event.type === 'tool.started'
    ? `${event.type} ${ALIKE[event.call.name] ?? event.call.name}`
    : event.type;
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
