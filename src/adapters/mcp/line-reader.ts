/** Splits bytes into lines as they come. */

/** Takes bytes and returns the lines that they complete; null once a line is longer than it may be. */
export function lineReader(maxBytes: number): (bytes: Uint8Array) => string[] | null {
  let open: Uint8Array[] = [];
  let size = 0;
  return (bytes) => {
    const lines: string[] = [];
    let from = 0;
    for (;;) {
      const at = bytes.indexOf(0x0a, from);
      const part = bytes.subarray(from, at < 0 ? undefined : at);
      size += part.length;
      if (size > maxBytes) return null;
      // The bytes belong to the caller.
      open.push(at < 0 ? Uint8Array.from(part) : part);
      if (at < 0) return lines;
      lines.push(Buffer.concat(open).toString('utf8'));
      open = [];
      size = 0;
      from = at + 1;
    }
  };
}
