/** Estimates the number of tokens of a text that no provider has counted yet. */

/**
 * Bytes of UTF-8 counted as one token. English and code have three to four, so this is a safe value for both. Denser text exists
 * (random letters, rare scripts), but no token has less than one byte, so the estimate is never too low by more than half of the
 * bytes.
 */
export const BYTES_PER_TOKEN = 2;

/** Tokens that so many bytes of text are reckoned with. */
export function estimatedTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}
