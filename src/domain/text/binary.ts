/** Distinguishes text from other contents. */

/** By git's own rule: a NUL among the first bytes. */
export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, 8_000).includes(0);
}
