/**
 * What the readers of all APIs build, and have in common; and what an answer used, as counted by its server or else estimated
 * from the bytes.
 */

import * as z from 'zod';
import {
  type Conversation,
  type LlmTurn,
  noUsage,
  type ToolCall,
  totalTokens,
  type Usage,
} from '../../../domain/conversation/conversation.ts';
import { estimatedTokens, type SpentTokens } from '../../../domain/run/budget.ts';
import { depthOf } from '../../../domain/text/json.ts';
import { type RefusalSaid, saidIn } from './failures.ts';

/** The model's part of a complete answer. */
export type Answer = Omit<LlmTurn, 'durationMs'>;

/** Builds one answer from the events of a stream. */
export interface StreamReader {
  readonly count: AnswerCount;
  /** Called for each event that is not an error of the API. */
  add(event: object): ReadStep;
  /** Called once, after `done` or at the end of the stream. */
  finish(): ReadEnd;
}

/** The effect of one event: all but `more` end the stream. */
export type ReadStep =
  | { status: 'more' }
  | { status: 'done' }
  | { status: 'broken'; why: string }
  | { status: 'refused'; said: RefusalSaid };

/** The whole answer; `broken`: another attempt may succeed; `unusable`: none will. */
export type ReadEnd =
  | { status: 'ok'; answer: Answer }
  | { status: 'broken'; why: string }
  | { status: 'unusable'; why: string };

/** The stream continues. */
export const MORE: ReadStep = { status: 'more' };

/** The answer cannot be used. */
export function broken(why: string): { status: 'broken'; why: string } {
  return { status: 'broken', why };
}

/** Why an answer ended is not known, so it cannot be told what it is worth. */
export function unknownEnd(what: string, reason: string): ReadEnd {
  return { status: 'unusable', why: `The answer ended with the unknown ${what} ${JSON.stringify(reason)}` };
}

/** The chunk of an API whose chunks all have the same form, or the step that ends the stream. */
export function readChunk<Chunk>(
  schema: z.ZodType<Chunk>,
  event: object,
): { status: 'ok'; chunk: Chunk } | Extract<ReadStep, { status: 'broken' }> {
  const chunk = schema.safeParse(event);
  return chunk.success
    ? { status: 'ok', chunk: chunk.data }
    : broken('A chunk of the answer has an unknown form');
}

/** The error that an event stands for; null if it is none. */
export function errorIn(name: string | undefined, event: object): RefusalSaid | null {
  const isError = name === 'error' || ('type' in event && event.type === 'error');
  return isError || ('error' in event && event.error) ? saidIn(event) : null;
}

/** Appends to text and lists and replaces anything else: this holds for all known pieces, and presumably for unknown ones. */
export function extend(target: Record<string, unknown>, piece: Readonly<Record<string, unknown>>): void {
  for (const [field, value] of Object.entries(piece)) {
    const before = target[field];
    if (field === '__proto__') continue;
    if (typeof before === 'string' && typeof value === 'string') target[field] = before + value;
    else if (Array.isArray(before) && Array.isArray(value)) target[field] = [...before, ...value];
    else target[field] = value;
  }
}

/** Bytes of the texts among these values: what the model wrote, without what wraps it. */
export function writtenBytes(values: readonly unknown[]): number {
  return values.reduce<number>(
    (sum, value) => sum + (typeof value === 'string' ? Buffer.byteLength(value) : 0),
    0,
  );
}

/** The ids that `idsIn` finds in what the model has written so far. */
export function earlierIds(
  { messages }: Conversation,
  idsIn: (block: Readonly<Record<string, unknown>>) => readonly unknown[],
): Set<string> {
  const blocks = messages.flatMap((message) => (message.role === 'assistant' ? message.content : []));
  return new Set(blocks.flatMap(idsIn).filter((id) => typeof id === 'string'));
}

/** Ids connect results with calls, so one that an API omits or repeats is replaced. It is added to `ids`. */
export function uniqueId(id: string, ids: Set<string>): string {
  const unique = id === '' || ids.has(id) ? `call_${ids.size + 1}_${id}`.slice(0, 60) : id;
  ids.add(unique);
  return unique;
}

/** Deeper than any tool's input; code that walks such a value recursively would exhaust the stack. */
const MAX_DEPTH = 100;

/** The JSON object that the model wrote as the input of a call, or its text and why it is not one. */
export function inputOf(json: string): Pick<ToolCall, 'input' | 'malformed'> {
  // A call without arguments.
  if (json.trim() === '') return { input: {} };
  if (depthOf(json) > MAX_DEPTH)
    return { input: json, malformed: `The input is nested more than ${MAX_DEPTH} levels deep.` };
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { input: json, malformed: `The input is not valid JSON: ${error.message}` };
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { input: value };
  const found = value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`;
  return { input: json, malformed: `The input must be one JSON object, but it is ${found}.` };
}

/** More than any answer or prompt has; sums of larger numbers would no longer be exact. */
const MAX_COUNT = 1_000_000_000;

/** A number of tokens in a report; null if there is no plausible one. */
export const ReportedCount = z.int().nonnegative().max(MAX_COUNT).nullish().catch(null);

/** Tokens as a server has reported them; null if not reported. */
export interface ReportedTokens {
  readonly prompt: Omit<Usage, 'output'> | null;
  readonly output: number | null;
}

/** No report. */
export const NOTHING_REPORTED: ReportedTokens = { prompt: null, output: null };

/** A report with these numbers. Servers that do not count report 0: no request has an empty prompt. */
export function reportOf({
  output,
  ...prompt
}: Omit<Usage, 'output'> & Pick<ReportedTokens, 'output'>): ReportedTokens {
  const hasPrompt = totalTokens({ ...prompt, output: 0 }) > 0;
  return { prompt: hasPrompt ? prompt : null, output: hasPrompt ? output : output || null };
}

/** Counts an answer from its first event to its last. */
export class AnswerCount {
  /** The server has accepted the request, so it may be billed. */
  hasBegun = false;
  /** The request may have reached the server, and was given up before it was answered or refused. */
  isUnanswered = false;
  /** Bytes that the model has written so far. */
  answerBytes = 0;
  readonly #requestBytes: () => number;
  #reported = NOTHING_REPORTED;
  #isWhole = false;

  /** `requestBytes` returns the bytes of the request that are tokens; called only if tokens are not reported. */
  constructor(requestBytes: () => number) {
    this.#requestBytes = requestBytes;
  }

  /** A later report replaces the earlier one. `isWhole`: it was made after the end of the answer. */
  report({ prompt, output }: ReportedTokens, isWhole: boolean): void {
    this.#reported = { prompt: prompt ?? this.#reported.prompt, output: output ?? this.#reported.output };
    if (output !== null) this.#isWhole = isWhole;
  }

  /**
   * What an answer that broke off costs; undefined if the server has refused the request or was not reached. Of an unanswered request
   * the prompt is estimated.
   */
  get spent(): SpentTokens | undefined {
    return this.hasBegun || this.isUnanswered ? this.#tokens() : undefined;
  }

  /** What a complete answer costs. */
  get ofTurn(): Pick<LlmTurn, 'usage' | 'estimated'> {
    const { usage, estimated } = this.#tokens();
    return { usage, ...(estimated ? { estimated } : {}) };
  }

  #tokens(): SpentTokens & { estimated: boolean } {
    const { prompt, output } = this.#reported;
    const isCounted = this.#isWhole && output !== null;
    return {
      usage: {
        ...(prompt ?? { ...noUsage, input: estimatedTokens(this.#requestBytes()) }),
        output: isCounted ? output : Math.max(output ?? 0, estimatedTokens(this.answerBytes)),
      },
      estimated: prompt === null || !isCounted,
    };
  }
}
