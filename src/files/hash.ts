/** Hashes, for modules that must not import node's own. */

import { createHash } from 'node:crypto';

/** In hex. */
export function sha256Of(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
