/** What a server answered, as text and images for the model. */

import * as z from 'zod';
import { imageIn } from '../images/header.ts';
import { describeImage, type FoundImage } from '../images/image.ts';
import { formatNumber } from '../text/format-number.ts';
import { isNestedWithin } from '../text/json.ts';
import { asSeen } from './foreign-text.ts';

const Embedded = z.object({ uri: z.string(), mimeType: z.string().optional() });

/** A part of an answer. Fields that nobody needs here are passed over. */
const Part = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.enum(['image', 'audio']), data: z.string(), mimeType: z.string() }),
  z.object({
    type: z.literal('resource'),
    resource: z.union([Embedded.extend({ text: z.string() }), Embedded.extend({ blob: z.string() })]),
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

/** The contents of a resource. */
export const ResourceContents = z.object({
  contents: z.array(z.union([Embedded.extend({ text: z.string() }), Embedded.extend({ blob: z.string() })])),
});
export type ResourceContents = z.infer<typeof ResourceContents>;

/** The text of an answer. What is no text is named with its size; `reads` is the tool that reads resources, if there is one. */
export function textOfAnswer({ content, structuredContent }: CallAnswer, reads: string | null): string {
  const texts = content.map((part) => textOfPart(part, reads));
  const said = texts.filter((text) => text !== '').join('\n\n');
  // Servers repeat it as text for clients that do not know it.
  if (said !== '' || structuredContent === undefined) return said;
  if (!isNestedWithin(structuredContent, MAX_LEVELS)) return '[data that is nested too deeply: not shown]';
  return asSeen(JSON.stringify(structuredContent));
}

/** The images of an answer in the formats that models take. */
export function imagesOfAnswer({ content }: CallAnswer): FoundImage[] {
  return content.flatMap((given) => imageOfPart(Part.safeParse(given).data) ?? []);
}

function imageOfPart(part: z.infer<typeof Part> | undefined): FoundImage | null {
  if (part?.type !== 'image' || part.data.length % 4 !== 0 || !BASE64.test(part.data)) return null;
  return imageIn(Uint8Array.from(atob(part.data), (char) => char.charCodeAt(0)));
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Most levels of lists and objects in data. */
const MAX_LEVELS = 100;

/** The text of a resource. */
export function textOfContents({ contents }: ResourceContents): string {
  return contents.map(embedded).join('\n\n');
}

function textOfPart(given: unknown, reads: string | null): string {
  const { data: part } = Part.safeParse(given);
  switch (part?.type) {
    case 'text':
      return asSeen(part.text);
    case 'image': {
      const image = imageOfPart(part);
      if (image !== null) return `[${describeImage(image)}]`;
      return `[image of ${bytesOf(part.data)}, ${named(part.mimeType)}: not shown]`;
    }
    case 'audio':
      return `[${part.type} of ${bytesOf(part.data)}, ${named(part.mimeType)}: not shown]`;
    case 'resource':
      return embedded(part.resource);
    case 'resource_link': {
      const how = reads === null ? '' : `; ${reads} reads it`;
      return `[resource ${named(part.uri)}${part.mimeType === undefined ? '' : `, ${named(part.mimeType)}`}${how}]`;
    }
    case undefined:
      return '[a part of a kind that is not known here: not shown]';
  }
}

function embedded(resource: ResourceContents['contents'][number]): string {
  const what = `resource ${named(resource.uri)}`;
  if ('text' in resource) return `[${what}]\n${asSeen(resource.text)}`;
  const { blob, mimeType = 'no type' } = resource;
  return `[${what} of ${bytesOf(blob)}, ${named(mimeType)}: not text, so not shown]`;
}

function bytesOf(base64: string): string {
  return `${formatNumber(Math.floor((base64.replace(/=+$/, '').length * 3) / 4))} bytes`;
}

function named(text: string): string {
  return asSeen(text).replaceAll('\n', ' ').slice(0, 500);
}
