/** Plays the model's turns from a recording in order, no matter what the requests are. */

import * as z from 'zod';
import { CompactionFailed } from '../../domain/conversation/compaction.ts';
import { LlmTurn } from '../../domain/conversation/conversation.ts';
import { ReviewFailed } from '../../domain/findings/review.ts';
import { Retry, SpentTokens } from '../../domain/run/budget.ts';
import { ProviderFailureKind } from '../../domain/run/limits.ts';
import { jsonOrUndefined } from '../../domain/text/json.ts';
import { sentence } from '../../domain/text/words.ts';
import { readRegularFile } from '../../files/regular-file.ts';
import type { TurnRequest, TurnResult } from '../../ports.ts';
import { ProviderSettingsError } from './asking/endpoint.ts';
import type { NamelessProvider } from './asking/provider.ts';
import { journalOfScript } from './script.ts';

/** A journal as text, one event per line, with its name for messages. */
export interface Recording {
  readonly name: string;
  readonly text: string;
}

const RecordedLine = z.looseObject({ type: z.string() });
const Started = z.looseObject({ model: z.string() });
const CompletedTurn = z.looseObject({ turn: LlmTurn });
const Retried = z.object(Retry.shape);
const Failure = z.object({
  kind: ProviderFailureKind,
  message: z.string(),
  spent: SpentTokens.exactOptional(),
});
const Unanswered = Failure.extend({
  kind: z.enum([...CompactionFailed.shape.kind.options, ...ReviewFailed.shape.kind.options]),
  turn: LlmTurn.optional(),
});

/** A provider that plays the journal or script at this path. Throws ProviderSettingsError if there is none that can be used. */
export async function openRecording(path: string | null): Promise<NamelessProvider> {
  if (path === null)
    throw new ProviderSettingsError(
      'The replay provider needs a recording: the events.jsonl of an earlier run.',
    );
  return createReplayProvider(await readRecording(path));
}

/**
 * Reads a journal as it is, and a hand-written script as a journal. Throws ProviderSettingsError if the file cannot be used.
 */
export async function readRecording(path: string): Promise<Recording> {
  const read = readRegularFile(path, MAX_RECORDING_BYTES, { follow: true });
  if (read.status === 'failed')
    throw new ProviderSettingsError(sentence(`The recording ${path} ${read.why}`));
  const text = read.bytes.toString('utf8');
  return { name: path, text: journalOfScript(path, text) ?? text };
}

/** The maximum size of a journal. */
const MAX_RECORDING_BYTES = 256 * 1024 * 1024;

/**
 * Only model turns matter; other events are skipped. A malformed line is reported when its turn is due, so that a recording
 * torn at its end still plays up to there.
 */
export function createReplayProvider(recording: Recording): NamelessProvider {
  const lines = recording.text.split('\n');
  let next = 0;
  let played = 0;

  function nextTurn(asked: AsideKind | null, onProgress: TurnRequest['onProgress']): TurnResult {
    for (; next < lines.length; next += 1) {
      const line = lines[next] ?? '';
      if (line.trim() === '') continue;
      const recorded = recordedIn(line, `${recording.name}, line ${next + 1}`);
      if (recorded === null) continue;
      if (recorded.status === 'retried') {
        onProgress({ type: 'retry', retry: recorded.retry });
        continue;
      }
      if (recorded.status === 'aside') {
        // A run with other settings may not need this here.
        if (recorded.kind !== asked) continue;
        next += 1;
        return recorded.result;
      }
      if (asked !== null && recorded.status === 'ok') return failedRecording(NOT_HERE[asked]);
      if (recorded.status === 'ok') played += 1;
      // A run that was resumed after a failure has turns beyond it. What cannot be read stays due.
      if (recorded.status !== 'failed' || recorded.kind !== 'recording') next += 1;
      return recorded;
    }
    return failedRecording(
      `The recording ${recording.name} has only ${played} model turns, but the run asked for one more. ` +
        'The run diverged from the recording.',
    );
  }

  return {
    model: modelOf(lines),
    complete: async ({ signal, onProgress, purpose }) => {
      if (signal.aborted) return { status: 'interrupted' };
      return nextTurn(asideFor(purpose), onProgress);
    },
  };
}

/** What a line says about the model: how a turn ended, or that an attempt failed. */
type Recorded =
  | TurnResult
  | { status: 'aside'; kind: AsideKind; result: TurnResult }
  | { status: 'retried'; retry: Retry };

/** The events that say something about the model; reading an invalid one throws. */
const EVENTS: Readonly<Record<string, { what: string; read(event: object): Recorded | null }>> = {
  'turn.completed': {
    what: 'turn',
    read: (event) => ({ status: 'ok', turn: CompletedTurn.parse(event).turn }),
  },
  'turn.failed': { what: 'failure', read: (event) => ({ status: 'failed', ...Failure.parse(event) }) },
  'turn.retried': { what: 'retry', read: (event) => ({ status: 'retried', retry: Retried.parse(event) }) },
  'turn.interrupted': {
    what: 'interruption',
    read: (event) => ({ status: 'interrupted', ...Failure.pick({ spent: true }).parse(event) }),
  },
  'context.compacted': {
    what: 'compaction',
    read: (event) => answered('summary', CompletedTurn.partial().parse(event).turn),
  },
  'compaction.failed': {
    what: 'failure',
    read: (event) => unanswered('summary', Unanswered.parse(event)),
  },
  'review.completed': {
    what: 'review',
    read: (event) => answered('review', CompletedTurn.parse(event).turn),
  },
  'review.failed': { what: 'failure', read: (event) => unanswered('review', Unanswered.parse(event)) },
};

/** Null for an event that has nothing to do with the model. */
function recordedIn(line: string, place: string): Recorded | null {
  const event = parsedLine(line);
  if (!event)
    return failedRecording(`The recording ${place}: not a JSON event; the line is torn or damaged.`);
  const known = Object.hasOwn(EVENTS, event.type) ? EVENTS[event.type] : undefined;
  try {
    return known?.read(event) ?? null;
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    const issues = error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ');
    return failedRecording(`The recording ${place}: not a valid ${known?.what} (${issues}).`);
  }
}

/** Requests other than the turns of the work. */
type AsideKind = 'summary' | 'review';

function asideFor(purpose: TurnRequest['purpose']): AsideKind | null {
  if (purpose === undefined) return null;
  return purpose === 'review' ? 'review' : 'summary';
}

/** Null if no request was made. */
function answered(kind: AsideKind, turn: LlmTurn | undefined): Recorded | null {
  return turn === undefined ? null : { status: 'aside', kind, result: { status: 'ok', turn } };
}

/** The same. */
function unanswered(of: AsideKind, { turn, ...failure }: z.infer<typeof Unanswered>): Recorded | null {
  const kind = ProviderFailureKind.safeParse(failure.kind).data;
  if (turn !== undefined || kind === undefined) return answered(of, turn);
  return { status: 'aside', kind: of, result: { status: 'failed', ...failure, kind } };
}

const NOT_HERE = {
  summary: 'The recording has no summary here.',
  review: 'The recording has no review here.',
};

function modelOf(lines: readonly string[]): string {
  for (const line of lines) {
    const event = parsedLine(line);
    if (event?.type === 'run.started') return Started.safeParse(event).data?.model ?? 'recorded';
    if (event?.type === 'turn.completed')
      return CompletedTurn.safeParse(event).data?.turn.model ?? 'recorded';
  }
  return 'recorded';
}

/** Undefined if it is not an event. */
function parsedLine(line: string): z.infer<typeof RecordedLine> | undefined {
  return RecordedLine.safeParse(jsonOrUndefined(line)).data;
}

function failedRecording(message: string): TurnResult {
  return { status: 'failed', kind: 'recording', message };
}
