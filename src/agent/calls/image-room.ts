/** Which images of a turn's calls go into the conversation: decided in the order of the calls, so that a replay decides the same. */

import {
  type FoundImage,
  type Image,
  imageBytes,
  MAX_CONVERSATION_BYTES,
  MAX_IMAGES,
  MAX_RUN_BYTES,
  tooLargeImage,
} from '../../domain/images/image.ts';
import type { ShownImages } from '../../domain/images/shown.ts';
import type { Redact } from '../../domain/secrets/redact.ts';
import { formatNumber } from '../../domain/text/words.ts';

/** How many images the conversation can still take during one turn. */
export class ImageRoom {
  #shown: ShownImages;
  readonly #redact: Redact;

  constructor(shown: ShownImages, redact: Redact) {
    this.#shown = shown;
    this.#redact = redact;
  }

  /** The images that are shown, and one line for each other image that says why it is not. */
  take(found: readonly FoundImage[]): {
    readonly images: readonly Image[];
    readonly notes: readonly string[];
  } {
    const images: Image[] = [];
    const notes: string[] = [];
    for (const { bytes, ...header } of found) {
      // Of many images most do not fit, and only those that fit are converted to base64.
      const why = tooLargeImage({ ...header, bytes }) ?? this.#whyNoRoom(bytes.length);
      const data = why === null ? Buffer.from(bytes).toString('base64') : '';
      const refusal = why ?? this.#whyNotTold(data, bytes);
      if (refusal === null) {
        const image = { ...header, data };
        images.push(image);
        this.count([image]);
      } else notes.push(`[Not shown: ${refusal}.]`);
    }
    return { images, notes };
  }

  /** Counts images that are shown even without room, since they are recorded. */
  count(images: readonly Image[]): void {
    for (const image of images) {
      const { count, bytes, runBytes } = this.#shown;
      const more = imageBytes(image);
      this.#shown = { count: count + 1, bytes: bytes + more, runBytes: runBytes + more };
    }
  }

  #whyNoRoom(size: number): string | null {
    const { count, bytes: before, runBytes } = this.#shown;
    if (count >= MAX_IMAGES) return `the conversation has ${MAX_IMAGES} images already`;
    if (before + size > MAX_CONVERSATION_BYTES)
      return `the images of a conversation may have ${formatNumber(MAX_CONVERSATION_BYTES)} bytes together`;
    if (runBytes + size > MAX_RUN_BYTES)
      return `the images of a run may have ${formatNumber(MAX_RUN_BYTES)} bytes together`;
    return null;
  }

  #whyNotTold(data: string, bytes: Uint8Array): string | null {
    // Everything recorded is redacted, and redacting part of an image would make it a different one.
    const text = Buffer.from(bytes).toString('latin1');
    return this.#redact(text) === text && this.#redact(data) === data
      ? null
      : 'it holds a secret of this run';
  }
}
