/** The last bytes of a stream of valid UTF-8, in a buffer that never grows. */

/** Keeps the last `capacity` bytes pushed. */
export class ByteRing {
  readonly #bytes: Buffer;
  #written = 0;

  constructor(capacity: number) {
    this.#bytes = Buffer.allocUnsafeSlow(capacity);
  }

  push(bytes: Uint8Array): void {
    const kept = bytes.subarray(Math.max(0, bytes.length - this.#bytes.length));
    this.#written += bytes.length - kept.length;
    for (let from = 0; from < kept.length; ) {
      const at = this.#written % this.#bytes.length;
      const part = kept.subarray(from, from + this.#bytes.length - at);
      this.#bytes.set(part, at);
      this.#written += part.length;
      from += part.length;
    }
  }

  /** The contents of the ring, without a partial character at the start. */
  text(): string {
    if (this.#written <= this.#bytes.length) return this.#bytes.toString('utf8', 0, this.#written);
    const at = this.#written % this.#bytes.length;
    const bytes = Buffer.concat([this.#bytes.subarray(at), this.#bytes.subarray(0, at)]);
    let start = 0;
    while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
    return bytes.toString('utf8', start);
  }
}
