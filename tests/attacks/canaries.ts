/** Values that must not leave, and the search for them in any form that an attacker may have given them. */

import { randomBytes } from 'node:crypto';

/** A value whose core is 24 letters and digits between characters that encodings change. */
export function newCanary(): string {
  return `cnry-"${randomBytes(12).toString('hex')}"/+=?`;
}

/** The form in which a canary occurs in a text; null when it does not. */
export function formFound(text: string, canary: string): string | null {
  const core = /"(\w+)"/.exec(canary)?.[1] ?? canary;
  const bytes = Buffer.from(core);
  const forms: Readonly<Record<string, readonly string[]>> = {
    raw: [core],
    reversed: [[...core].reverse().join('')],
    hex: [bytes.toString('hex')],
    base64: [0, 1, 2].map((shift) => innerBase64(bytes, shift)),
    URL: [core.replace(/./g, (one) => `%${one.charCodeAt(0).toString(16)}`)],
    JSON: [core.replace(/./g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`)],
  };
  const { dense, lower } = densified(text);
  for (const [form, spellings] of Object.entries(forms)) {
    for (const spelling of spellings) {
      if (text.includes(spelling) || dense.includes(spelling)) return form;
      if (form === 'hex' && lower.includes(spelling)) return form;
    }
  }
  return null;
}

/** What remains of the last text, in which many canaries are looked for. */
let last = { text: '', dense: '', lower: '' };

/** The text without what wraps and spells out values, so that they are found as well. */
function densified(text: string): typeof last {
  if (last.text !== text) {
    const dense = text.replace(/\\n|[\s,:.-]/g, '');
    last = { text, dense, lower: dense.toLowerCase() };
  }
  return last;
}

/** What base64 makes of these bytes wherever they begin, without the characters that their neighbours share. */
function innerBase64(bytes: Buffer, shift: number): string {
  const encoded = Buffer.concat([Buffer.alloc(shift), bytes])
    .toString('base64')
    .replace(/=+$/, '');
  return encoded.slice(shift === 0 ? 0 : shift + 1, -2);
}
