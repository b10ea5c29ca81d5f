/** Finds the lines of a command's output that say what was denied to it, however much it prints, in bounded memory. */

import { HINT_OF_DENIAL, MAX_SIGN_CHARS, signIn } from '../../../domain/review/denial-signs.ts';

/**
 * Different things that one command is found to be denied; what follows is not looked at. Those that are certain are counted apart:
 * the others can be printed by anybody, and may not count in the end.
 */
const MAX_LINES = 20;

/** Looks at bytes as they come. A chunk may be reused after `write`. */
export class DenialLines {
  /** By what each says, the first such line. */
  readonly #found = new Map<string, string>();
  #certain = 0;
  /** The beginning of the line that is still open, a character a byte. */
  #open = '';

  write(chunk: Uint8Array): void {
    if (this.#certain >= MAX_LINES) return;
    const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1');
    const end = text.lastIndexOf('\n') + 1;
    if (end > 0) {
      this.#look(this.#open + text.slice(0, end - 1));
      this.#open = '';
    }
    // One more than a line may have shows that it is too long.
    this.#open += text.slice(end, end + MAX_BYTES + 1 - this.#open.length);
  }

  /** All of them, in their order. Call it once, at the end. */
  lines(): string[] {
    this.#look(this.#open);
    return [...this.#found.values()];
  }

  #look(lines: string): void {
    // Most output has none, and is not split into lines.
    if (!HINT_OF_DENIAL.test(lines)) return;
    for (const bytes of lines.split('\n')) {
      if (bytes.length > MAX_BYTES || !HINT_OF_DENIAL.test(bytes)) continue;
      const line = Buffer.from(bytes, 'latin1').toString('utf8');
      const sign = signIn(line, 'failed');
      if (sign === null || this.#found.has(sign.key)) continue;
      const count = sign.isCertain ? this.#certain : this.#found.size - this.#certain;
      if (count >= MAX_LINES) continue;
      this.#found.set(sign.key, line);
      if (sign.isCertain) this.#certain += 1;
    }
  }
}

/** Up to four for a character. */
const MAX_BYTES = 4 * MAX_SIGN_CHARS;
