/** Describes a file that cannot be shown as UTF-8 text. */

import { shellWord } from '../../domain/shell-word.ts';
import { formatNumber } from '../../domain/text/words.ts';
import { literalCall } from '../result.ts';

/** `bytes` are not UTF-8 or contain a NUL. The answer names kind, size, first bytes and, for text, a way to view it. */
export function describeNotText(path: string, bytes: Uint8Array): string {
  const { kind, encoding } = kindOf(bytes);
  const first = Array.from(bytes.subarray(0, 16), (byte) => byte.toString(16).padStart(2, '0')).join(' ');
  const what = `${JSON.stringify(path)} is ${kind}, not UTF-8 text: ${formatNumber(bytes.length)} bytes, first bytes ${first}.`;
  if (encoding === null) return what;
  const command = `iconv -f ${encoding} -t UTF-8 ${shellWord(`./${path}`)}`;
  return `${what} Next: ${literalCall('run_command', { command })}`;
}

function kindOf(bytes: Uint8Array): { kind: string; encoding: string | null } {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return { kind: 'UTF-16 text (little endian)', encoding: 'UTF-16' };
  if (first === 0xfe && second === 0xff) return { kind: 'UTF-16 text (big endian)', encoding: 'UTF-16' };
  return bytes.includes(0)
    ? { kind: 'binary data', encoding: null }
    : { kind: 'Latin-1 or other non-UTF-8 text', encoding: 'LATIN1' };
}
