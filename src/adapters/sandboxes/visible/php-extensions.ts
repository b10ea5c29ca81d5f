/**
 * Which extensions PHP loads. Debian's packages say it in files below `/etc/php`, beside settings of all kinds, license keys and
 * passwords among them: commands see the lines that load an extension, and nothing else of them.
 */

import { join } from 'node:path';
import { entriesOf, readText } from '../host-files.ts';

/** A file below `/etc`, and its text. */
export interface EtcText {
  readonly name: string;
  readonly text: string;
}

/** `etc` is the folder of the machine. */
export function phpExtensions(etc = '/etc'): EtcText[] {
  const folders = (entriesOf(join(etc, 'php')) ?? []).map(({ name }) => join('php', name, 'cli/conf.d'));
  return folders.flatMap((folder) =>
    (entriesOf(join(etc, folder)) ?? []).flatMap(({ name }) => {
      const text = name.endsWith('.ini') ? extensionLines(readText(join(etc, folder, name)) ?? '') : '';
      return text === '' ? [] : [{ name: join(folder, name), text }];
    }),
  );
}

/** The lines of a file of settings that load an extension. */
function extensionLines(text: string): string {
  const lines = text
    .split('\n')
    .filter((line) => /^\s*(?:zend_)?extension\s*=\s*"?[\w./-]+"?\s*$/.test(line));
  return lines.map((line) => `${line.trim()}\n`).join('');
}
