/** Which documents can be read, judged by content: a name proves nothing. */

/** A PDF may begin after other bytes; those that do are rare, and are not read. */
export function isPdf(bytes: Uint8Array): boolean {
  return new TextDecoder('latin1').decode(bytes.subarray(0, 5)) === '%PDF-';
}
