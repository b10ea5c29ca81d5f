/** Words for a shell, as messages print them. */

import { withinLine } from './text/terminal.ts';

/** The text quoted as one word for a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The same for a command that is printed: what may not be printed is written as `printf` reads it. */
export function printedWord(text: string): string {
  if (withinLine(text) === text) return shellWord(text);
  const bytes = Array.from(new TextEncoder().encode(text), (byte) => {
    const character = String.fromCharCode(byte);
    return /[\w@+=:,./]/.test(character) ? character : `\\${byte.toString(8).padStart(3, '0')}`;
  });
  return `"$(printf '${bytes.join('')}')"`;
}
