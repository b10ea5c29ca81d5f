/**
 * Turns a conversation into the body of a request; a longer conversation starts with the contents of a shorter one.
 */

import type { ContentBlock, Conversation, UserBlock } from '../../../domain/conversation/conversation.ts';
import type { Image } from '../../../domain/images/image.ts';
import { imageLabel } from '../../../domain/images/shown.ts';
import type { AskingSettings } from '../asking/endpoint.ts';

/** Type of the one block of a turn: this API's answer is a content, kept with its signatures and sent back as it is. */
export const GEMINI_CONTENT = 'gemini_content';

/** A part of a content: text, a call, a thought, and whatever else the API sends. */
export interface GeminiPart {
  readonly text?: string;
  readonly functionCall?: { readonly name: string; readonly id?: string; readonly [field: string]: unknown };
  readonly [field: string]: unknown;
}

/** How a turn is stored. */
export interface GeminiContent {
  readonly parts: readonly GeminiPart[];
  /** The ids of its calls in the run, in order: the API omits them, or restarts their numbering. */
  readonly callIds: readonly string[];
}

const LEVELS = { low: 'LOW', medium: 'MEDIUM', high: 'HIGH', xhigh: 'HIGH', max: 'HIGH' } as const;

/** The body of the next request. */
export function geminiRequest(
  { effort }: AskingSettings,
  { system, tools, messages }: Conversation,
  maxTokens: number,
): object {
  const calls = new Map(
    messages.flatMap((message) => (message.role === 'assistant' ? message.content.flatMap(callsIn) : [])),
  );
  const declarations = tools.map(({ name, description, inputSchema }) => ({
    name,
    description,
    parametersJsonSchema: knownSchema(inputSchema),
  }));
  return {
    ...(system === '' ? {} : { systemInstruction: { parts: [{ text: system }] } }),
    ...(tools.length === 0 ? {} : { tools: [{ functionDeclarations: declarations }] }),
    contents: messages.flatMap((message) =>
      message.role === 'user' ? userContents(message.content, calls) : message.content.flatMap(sentBack),
    ),
    generationConfig: {
      maxOutputTokens: maxTokens,
      ...(effort === null ? {} : { thinkingConfig: { thinkingLevel: LEVELS[effort] } }),
    },
  };
}

type WireCall = { readonly name: string; readonly id?: string };

/** Only this provider writes such blocks, and the journal validates them as a whole. */
export function contentIn({ type, content }: Readonly<Record<string, unknown>>): GeminiContent | null {
  return type === GEMINI_CONTENT && typeof content === 'object' ? (content as GeminiContent | null) : null;
}

/** The calls of a turn by their ids in the run. */
function callsIn(block: ContentBlock): [string, WireCall][] {
  const content = contentIn(block);
  const called = content?.parts.flatMap(({ functionCall }) => functionCall ?? []) ?? [];
  return (content?.callIds ?? []).flatMap((id, at) => {
    const call = called[at];
    return call === undefined ? [] : [[id, call]];
  });
}

/** The API refuses a content without parts, such as an answer cut off in its thoughts. */
function sentBack(block: ContentBlock): object[] {
  const parts = contentIn(block)?.parts ?? [];
  return parts.length === 0 ? [] : [{ role: 'model', parts }];
}

/** Results are a separate content, with nothing else in it, right after their calls. */
function userContents(blocks: readonly UserBlock[], calls: ReadonlyMap<string, WireCall>): object[] {
  const results = blocks.flatMap((block) => {
    if (block.type !== 'tool_result') return [];
    const { name = 'unknown', id } = calls.get(block.callId) ?? {};
    const response = { [block.isError ? 'error' : 'output']: block.text };
    return [{ functionResponse: { ...(id === undefined ? {} : { id }), name, response } }];
  });
  const texts = blocks.flatMap((block) =>
    block.type === 'text' && block.text !== '' ? [{ text: block.text }] : [],
  );
  const images = blocks.flatMap((block) =>
    block.type === 'tool_result' ? imageParts(block.callId, block.images ?? []) : [],
  );
  return [results, [...images, ...texts]].flatMap((parts) =>
    parts.length === 0 ? [] : [{ role: 'user', parts }],
  );
}

/** Not within results, where only the newest models can see them; the API does not accept GIF. */
function imageParts(callId: string, images: readonly Image[]): GeminiPart[] {
  const shown = images.map(({ mediaType, data }) =>
    mediaType === 'image/gif'
      ? { text: '[A GIF image, which this API does not take: convert it to PNG to see it.]' }
      : { inlineData: { mimeType: mediaType, data } },
  );
  return shown.length === 0 ? [] : [{ text: imageLabel(callId, images.length) }, ...shown];
}

/** The keywords of JSON Schema that the API documents; it refuses others or ignores them, and tools check their input themselves. */
const KEYWORDS =
  '$id $defs $ref $anchor type format title description enum items prefixItems minItems maxItems minimum maximum anyOf oneOf properties additionalProperties required'.split(
    ' ',
  );

/** A schema of only these keywords. Names of properties are not keywords. */
function knownSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(knownSchema);
  if (typeof schema !== 'object' || schema === null) return schema;
  const kept = Object.entries(schema).filter(([keyword]) => KEYWORDS.includes(keyword));
  return Object.fromEntries(
    kept.map(([keyword, value]) => {
      if (keyword === 'enum' || keyword === 'required') return [keyword, value];
      const isNamed = keyword === 'properties' || keyword === '$defs';
      return [keyword, isNamed ? eachNamed(value) : knownSchema(value)];
    }),
  );
}

function eachNamed(schemas: unknown): unknown {
  if (typeof schemas !== 'object' || schemas === null) return schemas;
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, knownSchema(schema)]));
}
