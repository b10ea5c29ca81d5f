/** A server's answer as text and images for the model. */

import * as z from 'zod';
import { describeImage, type FoundImage, imageIn, MAX_IMAGE_BYTES, MAX_IMAGES } from '../images/image.ts';
import { isNestedWithin } from '../text/json.ts';
import { formatNumber } from '../text/words.ts';

/** The answer to a call. */
export const CallAnswer = z.object({
  content: z.array(z.unknown()).default([]),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
  isError: z.boolean().optional(),
});
export type CallAnswer = z.infer<typeof CallAnswer>;

/** A resource, or the address of one. */
const Resource = z.object({
  uri: z.string(),
  mimeType: z.string().optional(),
  text: z.string().optional(),
  blob: z.string().optional(),
});

/** A part of an answer. Fields that are not needed here are skipped. */
const Part = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.enum(['image', 'audio']), data: z.string(), mimeType: z.string() }),
  z.object({ type: z.literal('resource'), resource: Resource }),
  Resource.extend({ type: z.literal('resource_link') }),
]);
type SomePart = z.infer<typeof Part> | undefined;

/** Most parts of an answer that are looked at: a server can send millions, each in two bytes. */
const MAX_PARTS = 1_000;

/** Most levels of lists and objects in data. */
const MAX_LEVELS = 100;

/** Characters that hide text or change how it reads; tabs and line breaks stay, and so do the joiners of scripts and emoji. */
const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** A text of a server, which anyone may have written, as people see it; CRLF becomes LF. */
export function asSeen(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(UNSEEN, '');
}

/** What an answer says, and the images in it that a model may take. Other data is named with its size, a linked resource with its address. */
export function shownAnswer({ content, structuredContent }: CallAnswer): {
  text: string;
  images: FoundImage[];
} {
  const images: FoundImage[] = [];
  const texts = content.slice(0, MAX_PARTS).map((given) => {
    const { data: part } = Part.safeParse(given);
    // Each that is looked at takes time and room.
    const image = images.length < MAX_IMAGES ? imageOf(part) : null;
    if (image === null) return textOf(part);
    images.push(image);
    return `[${describeImage(image)}]`;
  });
  const more = content.length - MAX_PARTS;
  if (more > 0) texts.push(`[${formatNumber(more)} more parts: not shown]`);
  const text = texts.filter((one) => one !== '').join('\n\n');
  // Servers repeat it as text for clients that do not know it.
  if (text !== '' || structuredContent === undefined) return { text, images };
  const isShown = isNestedWithin(structuredContent, MAX_LEVELS);
  return {
    text: isShown ? asSeen(JSON.stringify(structuredContent)) : '[data that is nested too deeply: not shown]',
    images,
  };
}

/** Null also for one that no model takes for its size: it is not unpacked. */
function imageOf(part: SomePart): FoundImage | null {
  if (part?.type !== 'image' || part.data.length > Math.ceil(MAX_IMAGE_BYTES / 3) * 4) return null;
  const isBase64 = part.data.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(part.data);
  if (!isBase64) return null;
  const binary = atob(part.data);
  const bytes = new Uint8Array(binary.length);
  // `Uint8Array.from` takes a hundred times as long for a text.
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
  return imageIn(bytes);
}

function textOf(part: SomePart): string {
  if (part === undefined) return '[a part of an unknown kind: not shown]';
  if (part.type === 'text') return asSeen(part.text);
  if (part.type === 'resource_link')
    return `[resource ${[part.uri, part.mimeType ?? []].flat().map(named).join(', ')}]`;
  if (part.type !== 'resource')
    return `[${part.type} of ${bytesOf(part.data)}, ${named(part.mimeType)}: not shown]`;
  const { uri, text, blob = '', mimeType = 'no type' } = part.resource;
  return text === undefined
    ? `[resource ${named(uri)} of ${bytesOf(blob)}, ${named(mimeType)}: not text, so not shown]`
    : `[resource ${named(uri)}]\n${asSeen(text)}`;
}

function bytesOf(base64: string): string {
  const [digits = ''] = base64.split('=', 1);
  return `${formatNumber(Math.floor((digits.length * 3) / 4))} bytes`;
}

function named(text: string): string {
  return asSeen(text).replaceAll('\n', ' ').slice(0, 500);
}
