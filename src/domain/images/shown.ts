/** The images of a conversation: how many there are, and which of them an API has refused. */

import type { Conversation, Message, UserBlock } from '../conversation/conversation.ts';
import type { ToolOutcome } from '../conversation/tool.ts';
import { BYTES_PER_TOKEN } from '../run/budget.ts';
import { type Image, imageBytes, imageTokens } from './image.ts';

/** How much room images have taken so far. */
export interface ShownImages {
  /** Those that the conversation holds, and their bytes. */
  readonly count: number;
  readonly bytes: number;
  /** Bytes of all images that the run was shown, those of earlier segments included. */
  readonly runBytes: number;
}

/** The images of the conversation, and of outcomes that are not in it yet. `imageBytes`: of those that ever were. */
export function shownImages(
  { conversation, imageBytes }: { readonly conversation: Conversation; readonly imageBytes: number },
  pending: Iterable<ToolOutcome>,
): ShownImages {
  const held = heldImages(conversation);
  const due = [...pending].flatMap((outcome) => (outcome.status === 'ok' ? (outcome.images ?? []) : []));
  const bytes = bytesOfImages([...held, ...due]);
  return { count: held.length + due.length, bytes, runBytes: imageBytes + bytesOfImages(due) };
}

/** The room that these images take. */
export function bytesOfImages(images: readonly Image[]): number {
  return images.reduce((sum, image) => sum + imageBytes(image), 0);
}

/**
 * Bytes of a request with these images beyond those that their tokens are reckoned with, where nobody counts tokens: base64 is
 * no text for a model.
 */
export function bytesBeyondTokens(conversation: Conversation): number {
  const images = heldImages(conversation);
  return images.reduce(
    (sum, image) => sum + Math.max(0, image.data.length - imageTokens(image) * BYTES_PER_TOKEN),
    0,
  );
}

function heldImages({ messages }: Conversation): Image[] {
  const blocks = messages.flatMap(({ role, content }) => (role === 'user' ? content : []));
  return blocks.filter(isResult).flatMap(({ images = [] }) => images);
}

/**
 * The conversation without the images that came with its last message, which no request has been answered with; null where it has
 * none. Each result says so in `text`.
 */
export function withoutLastImages(conversation: Conversation, text: string): Conversation | null {
  const last = conversation.messages.at(-1);
  if (last?.role !== 'user' || !last.content.some(hasImages)) return null;
  const message: Message = {
    role: 'user',
    content: last.content.map((block) => {
      if (!isResult(block) || block.images === undefined) return block;
      const { images: _, ...rest } = block;
      return { ...rest, text: `${block.text}\n${text}` };
    }),
  };
  return { ...conversation, messages: [...conversation.messages.slice(0, -1), message] };
}

/** Whether a refusal of a request speaks of images: APIs have no code for it. */
export function speaksOfImages(message: string): boolean {
  return /\bimages?\b|image_url|input_image|inline_?data|multi-?modal|\bvision\b/i.test(message);
}

/** Stands before images that an API does not take within the result of a call. */
export function imageLabel(callId: string, count: number): string {
  return `[${count === 1 ? 'The image' : `The ${count} images`} of the result of call ${callId}:]`;
}

function hasImages(block: UserBlock): boolean {
  return isResult(block) && block.images !== undefined;
}

function isResult(block: UserBlock): block is Extract<UserBlock, { type: 'tool_result' }> {
  return block.type === 'tool_result';
}
