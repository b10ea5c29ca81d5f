/** Builds one answer of the Gemini API from the chunks of a stream. Parts with a signature stay exactly as they came. */

import * as z from 'zod';
import {
  type Conversation,
  noUsage,
  type ToolCall,
  type TurnStop,
} from '../../../domain/conversation/conversation.ts';
import {
  type AnswerCount,
  broken,
  earlierIds,
  MORE,
  NOTHING_REPORTED,
  type ReadEnd,
  type ReadStep,
  ReportedCount,
  type ReportedTokens,
  readChunk,
  reportOf,
  type StreamReader,
  uniqueId,
  unknownEnd,
} from '../asking/reader.ts';
import { contentIn, GEMINI_CONTENT, type GeminiContent, type GeminiPart } from './request.ts';

const KnownFields = z.looseObject({
  text: z.string().exactOptional(),
  thought: z.boolean().exactOptional(),
  thoughtSignature: z.string().exactOptional(),
  functionCall: z.looseObject({ name: z.string().min(1), id: z.string().exactOptional() }).exactOptional(),
});
type Part = z.infer<typeof KnownFields>;
/** Checked, but not rebuilt: the order of its fields stays, too. */
const Part = z.custom<Part>((value) => KnownFields.safeParse(value).success, 'not a part');
const Chunk = z.looseObject({
  candidates: z
    .array(
      z.looseObject({
        content: z.looseObject({ parts: z.array(Part).nullish() }).nullish(),
        finishReason: z.string().nullish(),
        finishMessage: z.string().nullish(),
      }),
    )
    .nullish(),
  promptFeedback: z.looseObject({ blockReason: z.string().nullish() }).nullish(),
  usageMetadata: z.unknown().optional(),
  modelVersion: z.string().nullish(),
});
const UsageMetadata = z.object({
  promptTokenCount: ReportedCount,
  cachedContentTokenCount: ReportedCount,
  candidatesTokenCount: ReportedCount,
  thoughtsTokenCount: ReportedCount,
  toolUsePromptTokenCount: ReportedCount,
});

const REFUSALS = [
  ...['SAFETY', 'RECITATION', 'LANGUAGE', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII'],
  ...['IMAGE_SAFETY', 'IMAGE_PROHIBITED_CONTENT', 'IMAGE_RECITATION', 'MODEL_ARMOR', 'JAILBREAK'],
];

/** The model went astray; another answer may do better. */
const BROKEN = ['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS', 'OTHER'];

/** Takes the chunks of one stream in order. */
export class GeminiReader implements StreamReader {
  readonly count: AnswerCount;
  readonly #ids: Set<string>;
  readonly #parts: Part[] = [];
  #finish: { reason: string; detail: string } | null = null;
  #model = '';

  constructor(conversation: Conversation, count: AnswerCount) {
    this.count = count;
    this.#ids = earlierIds(conversation, (block) => contentIn(block)?.callIds ?? []);
  }

  add(event: object): ReadStep {
    const read = readChunk(Chunk, event);
    if (read.status !== 'ok') return read;
    const { candidates, promptFeedback, usageMetadata, modelVersion } = read.chunk;
    this.#model ||= modelVersion ?? '';
    const blocked = promptFeedback?.blockReason;
    if (blocked) this.#finish = { reason: 'SAFETY', detail: blocked };
    const [candidate] = candidates ?? [];
    if (candidate?.finishReason) {
      const { finishReason: reason, finishMessage: message } = candidate;
      this.#finish = { reason, detail: message ? `${reason}: ${message}` : reason };
    }
    // Counts before the end cover the prompt, and the answer so far.
    this.count.report(reportedIn(usageMetadata), this.#finish !== null);
    const parts = candidate?.content?.parts ?? [];
    this.count.answerBytes += parts.reduce((sum, part) => sum + writtenBytes(part), 0);
    for (const part of parts) this.#addPart(part);
    return MORE;
  }

  finish(): ReadEnd {
    if (this.#finish === null) return broken('The answer ended before it was complete');
    const { reason, detail } = this.#finish;
    if (BROKEN.includes(reason)) return broken(`The model wrote no usable answer (${detail})`);
    const calls = this.#calls();
    const stop = stopOf(reason, calls.length > 0);
    if (stop === null) return unknownEnd('finish reason', reason);
    const parts: readonly GeminiPart[] = this.#parts;
    const content: GeminiContent = { parts, callIds: calls.map(({ id }) => id) };
    return {
      status: 'ok',
      answer: {
        content: [{ type: GEMINI_CONTENT, content }],
        stop,
        stopDetail: stop === 'refusal' ? detail : '',
        calls,
        text: this.#parts.map(({ text, thought }) => (thought === true ? '' : (text ?? ''))).join(''),
        ...this.count.ofTurn,
        model: this.#model,
      },
    };
  }

  /**
   * Joins the pieces of a text into one part, as the API would send it unstreamed; a signature belongs to its own
   * part.
   */
  #addPart(part: Part): void {
    const last = this.#parts.at(-1);
    if (last !== undefined && isPlainText(last) && isPlainText(part) && last.thought === part.thought)
      this.#parts[this.#parts.length - 1] = { ...last, text: (last.text ?? '') + (part.text ?? '') };
    else this.#parts.push(part);
  }

  /** The API may omit ids or restart their numbering. */
  #calls(): ToolCall[] {
    return this.#parts.flatMap(({ functionCall }) => {
      if (functionCall === undefined) return [];
      const { name, id = '', args = {} } = functionCall;
      const isObject = typeof args === 'object' && args !== null && !Array.isArray(args);
      return [
        { id: uniqueId(id, this.#ids), name, input: args, ...(isObject ? {} : { malformed: NO_OBJECT }) },
      ];
    });
  }
}

const NO_OBJECT = 'The input must be one JSON object.';

/** Bytes that the model wrote, without what wraps them. */
function writtenBytes(part: Part): number {
  return Buffer.byteLength(part.text ?? JSON.stringify(part));
}

function isPlainText(part: Part): boolean {
  return (
    part.text !== undefined && Object.keys(part).every((field) => field === 'text' || field === 'thought')
  );
}

function stopOf(reason: string, hasCalls: boolean): TurnStop | null {
  if (REFUSALS.includes(reason)) return 'refusal';
  if (reason === 'MAX_TOKENS') return 'max_tokens';
  if (reason !== 'STOP') return null;
  return hasCalls ? 'tool_use' : 'end_turn';
}

/** The API counts cached tokens as part of the prompt, but here they are separate; thoughts are output. */
function reportedIn(report: unknown): ReportedTokens {
  const parsed = UsageMetadata.safeParse(report);
  if (!parsed.success || parsed.data.promptTokenCount == null) return NOTHING_REPORTED;
  const { promptTokenCount: prompt, cachedContentTokenCount, toolUsePromptTokenCount } = parsed.data;
  const cacheRead = Math.min(cachedContentTokenCount ?? 0, prompt);
  const { candidatesTokenCount: said, thoughtsTokenCount: thought } = parsed.data;
  // An absent count is 0; null means that it is not plausible.
  const output = said === null || thought === null ? null : (said ?? 0) + (thought ?? 0);
  const input = prompt - cacheRead + (toolUsePromptTokenCount ?? 0);
  return reportOf({ ...noUsage, input, cacheRead, output });
}
