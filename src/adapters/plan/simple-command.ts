/** What the words of a simple command show about the script around it. */

import type { Word } from 'unbash';

/** Words as the shell sees them; null if that depends on what runs. */
export type Words = readonly (string | null)[];

/** Whether the script may succeed even if what follows fails or is not reached. */
export function endsWell(name: string, [first, second]: Words): boolean {
  switch (name) {
    case 'exit':
    case 'return':
      return !first || !(Number(first) > 0);
    case 'break':
    case 'continue':
      return true;
    case 'set':
      return first === null || /^\+\w*e/.test(first ?? '') || (first === '+o' && second !== undefined);
    case 'trap':
      return first === null || /\b(?:exit|exec)\b/.test(first ?? '');
    default:
      return false;
  }
}

/** Name and words of the program that runs. Looks through programs that only start another, such as `env`. */
export function programOf(name: string | null, words: Words): [name: string | null, words: Words] {
  if (name === null || !PASSES_ON.has(name)) return [name, words];
  const at = name === 'env' ? words.findIndex((word) => word === null || !/^\w+=/.test(word)) : 0;
  const next = words[at] ?? null;
  if (
    next === null ||
    next.startsWith('-') ||
    words.slice(0, at).some((word) => /^\w*PATH=/.test(word ?? ''))
  )
    return [name, words];
  return [next, words.slice(at + 1)];
}

const PASSES_ON = new Set(['command', 'exec', 'env', 'nohup', 'builtin']);

/** The script's folder after `cd` with these words; null when that depends on what runs. */
export function folderAfter([to, ...more]: Words, from: string | null): string | null {
  if (from === null || to === undefined || to === null || more.length > 0 || to.startsWith('-')) return null;
  return to.startsWith('/') ? to : `${from}/${to}`;
}

/** Programs that create no files. */
export const MAKES_NOTHING = new Set([
  'set',
  'export',
  'echo',
  'printf',
  'test',
  '[',
  'true',
  ':',
  'pwd',
  'ls',
  'cat',
  'wait',
  'ulimit',
  'umask',
]);

const SETS_NAMES = new Set(['.', 'source', 'eval', 'alias', 'hash', 'enable', 'shopt']);
const DECLARES = new Set(['export', 'declare', 'typeset', 'readonly', 'local']);
/** Arguments of programs that install further programs. */
const INSTALLS = /^(?:i|ci|install|add|sync|enable|setup|restore|bootstrap|update|upgrade|use|global|build)$/;

/** Whether names may mean something else afterwards. */
export function changesNames(name: string, words: Words): boolean {
  if (SETS_NAMES.has(name)) return true;
  if (DECLARES.has(name)) return words.some((word) => word === null || /^\w*PATH\+?=/.test(word));
  return words.some((word) => word !== null && INSTALLS.test(word));
}

/** The word as the shell sees it; null if that depends on what runs. */
export function literal({ value, parts = [] }: Word): string | null {
  if (value.startsWith('~')) return null;
  const isPlain = parts.every(
    (part) =>
      part.type === 'Literal' ||
      part.type === 'SingleQuoted' ||
      part.type === 'AnsiCQuoted' ||
      (part.type === 'DoubleQuoted' && part.parts.every(({ type }) => type === 'Literal')),
  );
  return isPlain ? value : null;
}
