/** The model's text as it arrives in pieces, made safe to print. */

import type { Redact } from '../../../domain/secrets/redact.ts';
import { openMark, withinLine } from '../../../domain/text/terminal.ts';

/** Returns what can be shown of each piece, with secrets redacted however they are split. */
export class ModelText {
  readonly #redact: Redact;
  readonly #openEnd: (text: string) => number;
  /** The end of the text received, which cannot be shown until it is known how it continues. */
  #held = '';

  /** `openEnd`: how many of a text's last characters may be the beginning of a secret. */
  constructor(redact: Redact, openEnd: (text: string) => number) {
    this.#redact = redact;
    this.#openEnd = openEnd;
  }

  /** Parts of lines, with a line ending between each two. */
  add(piece: string): string[] {
    const arrived = this.#redact(this.#held + piece);
    const sure = arrived.length - Math.max(this.#openEnd(arrived), openMark(arrived));
    this.#held = arrived.slice(sure);
    return partsOf(arrived.slice(0, sure));
  }

  /** Returns what was held back, once nothing follows it. */
  end(): string[] {
    const held = this.#held;
    this.#held = '';
    return partsOf(held);
  }
}

function partsOf(text: string): string[] {
  return text.split(/\r\n|\n|\r/).map(withinLine);
}
