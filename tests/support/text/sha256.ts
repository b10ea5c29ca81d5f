import { createHash } from 'node:crypto';

/** In hex, of a text. */
export function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
