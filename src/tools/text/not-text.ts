/** Describes a file that cannot be shown as UTF-8 text. */

import { shellWord } from '../../domain/shell-word.ts';
import { formatNumber } from '../../domain/text/words.ts';
import { literalCall } from '../result.ts';

/** Leading bytes of common formats, in hex. */
const SIGNATURES: readonly (readonly [prefix: string, kind: string])[] = [
  ['89504e470d0a1a0a', 'a PNG image'],
  ['ffd8ff', 'a JPEG image'],
  ['47494638', 'a GIF image'],
  ['52494646', 'RIFF data, such as a WebP image'],
  ['25504446', 'a PDF document'],
  ['504b0304', 'a ZIP archive, or a format built on it'],
  ['1f8b', 'gzip data'],
  ['fd377a585a00', 'xz data'],
  ['28b52ffd', 'zstd data'],
  ['7f454c46', 'an ELF binary'],
  ['cafebabe', 'a Java class or a Mach-O binary'],
  ['0061736d', 'a WebAssembly module'],
  ['53514c69746520666f726d6174203300', 'an SQLite database'],
  ['774f4646', 'a WOFF font'],
  ['774f4632', 'a WOFF2 font'],
  ['0000fffe', 'UTF-32 text'],
  ['fffe', 'UTF-16 text (little endian)'],
  ['feff', 'UTF-16 text (big endian)'],
];

/** `bytes` are not UTF-8 or contain a NUL. The answer names kind, size, first bytes and, for text, a way to view it. */
export function describeNotText(path: string, bytes: Uint8Array): string {
  const kind = kindOf(bytes);
  const first = hex(bytes.subarray(0, 16)).replace(/(..)(?=.)/g, '$1 ');
  const what = `${JSON.stringify(path)} is ${kind}, not UTF-8 text: ${formatNumber(bytes.length)} bytes, first bytes ${first}.`;
  const encoding = encodingOf(kind);
  if (encoding === null) return what;
  const command = `iconv -f ${encoding} -t UTF-8 ${shellWord(`./${path}`)}`;
  return `${what} Next: ${literalCall('run_command', { command })}`;
}

function kindOf(bytes: Uint8Array): string {
  const start = hex(bytes.subarray(0, 16));
  const known = SIGNATURES.find(([prefix]) => start.startsWith(prefix));
  if (known) return known[1];
  return bytes.includes(0) ? 'binary data' : 'Latin-1 or other non-UTF-8 text';
}

function encodingOf(kind: string): string | null {
  if (kind.startsWith('UTF-16')) return 'UTF-16';
  if (kind.startsWith('Latin-1')) return 'LATIN1';
  return null;
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
