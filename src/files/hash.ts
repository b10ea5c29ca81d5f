/** Hashes, for those who have no business with node's own modules. */

import { createHash } from 'node:crypto';

/** Hex. */
export function sha256Of(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
