/** Reads an answer from a server that may never stop sending. */

/** At most `max` bytes of the body; the rest is not read. */
export async function firstBytes(
  body: AsyncIterable<Uint8Array> | null,
  max: number,
): Promise<{ bytes: Uint8Array; isCut: boolean }> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body ?? []) {
    pieces.push(piece);
    length += piece.length;
    if (length > max) break;
  }
  return { bytes: Buffer.concat(pieces).subarray(0, max), isCut: length > max };
}
