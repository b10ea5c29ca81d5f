/** Plays the model's turns from a recording in order, no matter what the requests are. */

import * as z from 'zod';
import { Retry, SpentTokens } from '../../domain/budget/spent.ts';
import { CompactionFailed } from '../../domain/compaction/compaction.ts';
import { LlmTurn } from '../../domain/conversation/conversation.ts';
import { ReviewFailed } from '../../domain/findings/review.ts';
import { ProviderFailureKind } from '../../domain/run/limits.ts';
import { jsonOrUndefined } from '../../domain/text/json.ts';
import { sentence } from '../../domain/text/sentence.ts';
import { readRegularFile } from '../../files/regular-file.ts';
import type { LlmProvider, TurnRequest, TurnResult } from '../../ports.ts';
import { journalOfScript } from './script.ts';
import { ProviderSettingsError } from './settings-error.ts';

/** A journal as text, one event per line, with its name for messages. */
export interface Recording {
  readonly name: string;
  readonly text: string;
}

const RecordedLine = z.looseObject({ type: z.string() });
const Started = z.looseObject({ model: z.string() });
const CompletedTurn = z.looseObject({ turn: LlmTurn });
const FailedTurn = z.object({
  kind: ProviderFailureKind,
  message: z.string(),
  spent: SpentTokens.exactOptional(),
});
const Interrupted = z.object({ spent: SpentTokens });
const Retried = z.object(Retry.shape);
const CompactedTurn = z.object({ turn: LlmTurn.optional() });
const Unanswered = z.object({
  kind: z.enum([...CompactionFailed.shape.kind.options, ...ReviewFailed.shape.kind.options]),
  message: z.string(),
  turn: LlmTurn.optional(),
  spent: SpentTokens.exactOptional(),
});

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
export function createReplayProvider(recording: Recording): LlmProvider {
  const lines = recording.text.split('\n');
  let next = 0;
  let played = 0;

  function nextTurn(asked: AsideKind | null, onProgress: TurnRequest['onProgress']): TurnResult {
    let isRetrying = false;
    for (; next < lines.length; next += 1) {
      const line = lines[next] ?? '';
      if (line.trim() === '') continue;
      const recorded = recordedIn(line, `${recording.name}, line ${next + 1}`);
      if (recorded === null) continue;
      if (recorded.status === 'retried') {
        isRetrying = true;
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
      // A run that was stopped while waiting for the next attempt has no answer.
      if (recorded.status === 'stopped' && !isRetrying) continue;
      if (recorded.status === 'ok') played += 1;
      // A run that was resumed after a failure has turns beyond it. What cannot be read stays due.
      if (recorded.status !== 'failed' || recorded.kind !== 'recording') next += 1;
      return recorded.status === 'stopped' ? { status: 'interrupted' } : recorded;
    }
    return failedRecording(
      `The recording ${recording.name} has only ${played} model turns, but the run asked for one more. ` +
        'The run diverged from the recording.',
    );
  }

  return {
    name: 'replay',
    model: modelOf(lines),
    complete: async ({ signal, onProgress, purpose }) => {
      if (signal.aborted) return { status: 'interrupted' };
      const result = nextTurn(asideFor(purpose), onProgress);
      if (purpose === undefined && result.status === 'ok' && result.turn.text !== '')
        onProgress({ type: 'text', text: result.turn.text });
      return result;
    },
  };
}

/** What a line says about the model: how a turn ended, that an attempt failed, or that the run was stopped. */
type Recorded =
  | TurnResult
  | { status: 'aside'; kind: AsideKind; result: TurnResult }
  | { status: 'retried'; retry: Retry }
  | { status: 'stopped' };

/** Null for an event that has nothing to do with the model. */
function recordedIn(line: string, place: string): Recorded | null {
  const event = parsedLine(line);
  if (!event)
    return failedRecording(`The recording ${place}: not a JSON event; the line is torn or damaged.`);
  const invalid = (what: string, error: z.ZodError) =>
    failedRecording(`The recording ${place}: not a valid ${what} (${issuesOf(error)}).`);
  switch (event.type) {
    case 'turn.completed': {
      const { data, error } = CompletedTurn.safeParse(event);
      return data ? { status: 'ok', turn: data.turn } : invalid('turn', error);
    }
    case 'turn.failed': {
      const { data, error } = FailedTurn.safeParse(event);
      return data ? { status: 'failed', ...data } : invalid('failure', error);
    }
    case 'turn.retried': {
      const { data, error } = Retried.safeParse(event);
      return data ? { status: 'retried', retry: data } : invalid('retry', error);
    }
    case 'turn.interrupted': {
      const { data, error } = Interrupted.safeParse(event);
      return data ? { status: 'interrupted', ...data } : invalid('interruption', error);
    }
    case 'context.compacted': {
      const { data, error } = CompactedTurn.safeParse(event);
      if (!data) return invalid('compaction', error);
      return data.turn ? aside('summary', { status: 'ok', turn: data.turn }) : null;
    }
    case 'compaction.failed': {
      const { data, error } = Unanswered.safeParse(event);
      return data ? unanswered('summary', data) : invalid('failure', error);
    }
    case 'review.completed': {
      const { data, error } = CompletedTurn.safeParse(event);
      return data ? aside('review', { status: 'ok', turn: data.turn }) : invalid('review', error);
    }
    case 'review.failed': {
      const { data, error } = Unanswered.safeParse(event);
      return data ? unanswered('review', data) : invalid('failure', error);
    }
    case 'run.interrupted':
      return { status: 'stopped' };
    default:
      return null;
  }
}

/** Requests other than the turns of the work. */
type AsideKind = 'summary' | 'review';

function asideFor(purpose: TurnRequest['purpose']): AsideKind | null {
  if (purpose === undefined) return null;
  return purpose === 'review' ? 'review' : 'summary';
}

function aside(kind: AsideKind, result: TurnResult): Recorded {
  return { status: 'aside', kind, result };
}

/** Null if no request was made. */
function unanswered(
  of: AsideKind,
  { kind, message, turn, spent }: z.infer<typeof Unanswered>,
): Recorded | null {
  if (turn !== undefined) return aside(of, { status: 'ok', turn });
  const known = ProviderFailureKind.safeParse(kind);
  if (!known.success) return null;
  return aside(of, {
    status: 'failed',
    kind: known.data,
    message,
    ...(spent === undefined ? {} : { spent }),
  });
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

function issuesOf(error: z.ZodError): string {
  return error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ');
}

function failedRecording(message: string): TurnResult {
  return { status: 'failed', kind: 'recording', message };
}
