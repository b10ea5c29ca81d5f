/** How many tokens a text may have, where no provider has counted them yet. */

/**
 * Bytes of UTF-8 that are taken for one token. English and code have three to four; this is on the safe side for both. Denser
 * text exists (random letters, rare scripts), and no token has less than one byte, so that the estimate is never short by
 * more than half of the bytes.
 */
export const BYTES_PER_TOKEN = 2;

/** Tokens that so many bytes of text are reckoned with. */
export function estimatedTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}
