/** A server's answer as text and images for the model. */

import * as z from 'zod';
import { imageIn } from '../images/header.ts';
import { describeImage, type FoundImage, MAX_IMAGE_BYTES, MAX_IMAGES } from '../images/image.ts';
import { isNestedWithin } from '../text/json.ts';
import { withoutTail } from '../text/shorten.ts';
import { formatNumber } from '../text/words.ts';
import { asSeen } from './foreign-text.ts';

const Embedded = z.object({ uri: z.string(), mimeType: z.string().optional() });

const Contents = z.union([Embedded.extend({ text: z.string() }), Embedded.extend({ blob: z.string() })]);

/** A part of an answer. Fields that are not needed here are skipped. */
const Part = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.enum(['image', 'audio']), data: z.string(), mimeType: z.string() }),
  z.object({
    type: z.literal('resource'),
    resource: Contents,
  }),
  Embedded.extend({ type: z.literal('resource_link'), name: z.string().optional() }),
]);

/** The answer to a call. */
export const CallAnswer = z.object({
  content: z.array(z.unknown()).default([]),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
  isError: z.boolean().optional(),
});
export type CallAnswer = z.infer<typeof CallAnswer>;

/** What an answer says, and the images in it that a model may take. */
export interface ShownAnswer {
  readonly text: string;
  readonly images: readonly FoundImage[];
}

/** Content other than text is named with its size, and a linked resource with its address. */
export function shownAnswer({ content, structuredContent }: CallAnswer): ShownAnswer {
  const images: FoundImage[] = [];
  const texts = content.map((given) => {
    const { data: part } = Part.safeParse(given);
    // A server may send any number, and each that is looked at takes time and room.
    const image = images.length < MAX_IMAGES ? imageOfPart(part) : null;
    if (image === null) return textOfPart(part);
    images.push(image);
    return `[${describeImage(image)}]`;
  });
  const text = texts.filter((one) => one !== '').join('\n\n');
  // Servers repeat it as text for clients that do not know it.
  return { text: text === '' && structuredContent !== undefined ? dataOf(structuredContent) : text, images };
}

function dataOf(structured: Readonly<Record<string, unknown>>): string {
  if (!isNestedWithin(structured, MAX_LEVELS)) return '[data that is nested too deeply: not shown]';
  return asSeen(JSON.stringify(structured));
}

/** Null also for one that no model takes for its size: it is not unpacked. */
function imageOfPart(part: SomePart): FoundImage | null {
  if (part?.type !== 'image' || part.data.length > MOST_BASE64) return null;
  if (part.data.length % 4 !== 0 || !BASE64.test(part.data)) return null;
  const binary = atob(part.data);
  const bytes = new Uint8Array(binary.length);
  // `Uint8Array.from` takes a hundred times as long for a text.
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
  return imageIn(bytes);
}

type SomePart = z.infer<typeof Part> | undefined;

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const MOST_BASE64 = Math.ceil(MAX_IMAGE_BYTES / 3) * 4;

/** Most levels of lists and objects in data. */
const MAX_LEVELS = 100;

function textOfPart(part: SomePart): string {
  switch (part?.type) {
    case 'text':
      return asSeen(part.text);
    case 'image':
    case 'audio':
      return `[${part.type} of ${bytesOf(part.data)}, ${named(part.mimeType)}: not shown]`;
    case 'resource':
      return embedded(part.resource);
    case 'resource_link':
      return `[resource ${named(part.uri)}${part.mimeType === undefined ? '' : `, ${named(part.mimeType)}`}]`;
    case undefined:
      return '[a part of an unknown kind: not shown]';
  }
}

function embedded(resource: z.infer<typeof Contents>): string {
  const what = `resource ${named(resource.uri)}`;
  if ('text' in resource) return `[${what}]\n${asSeen(resource.text)}`;
  const { blob, mimeType = 'no type' } = resource;
  return `[${what} of ${bytesOf(blob)}, ${named(mimeType)}: not text, so not shown]`;
}

function bytesOf(base64: string): string {
  return `${formatNumber(Math.floor((withoutTail(base64, '=').length * 3) / 4))} bytes`;
}

function named(text: string): string {
  return asSeen(text).replaceAll('\n', ' ').slice(0, 500);
}
