/** Commands over a run, as they are printed: a shell has to read them as they are meant, and the command to accept them. */

import { printedWord } from '../shell-word.ts';

/** Flags that the command takes with their values as they were typed: a text, several of them, or true for a switch. */
export type TypedFlags = Readonly<Record<string, unknown>>;

/**
 * After a command that was printed by a process that does not know with which flags the run began; a comment for a shell. What a
 * run directory says of them is not repeated: it may come from anywhere.
 */
export const AGREE_AGAIN = '# resume names the flags to repeat, if any';

/** The command that resumes a run. `more` are flags as typed (`--deadline 60s`), which replace those of the same name. */
export function resumeCommand(path: string, typed: TypedFlags, more: readonly string[] = []): string {
  return printedCommand('resume', path, typed, more);
}

/** The command that publishes a run. */
export function publishCommand(path: string, typed: TypedFlags): string {
  return printedCommand('publish', path, typed, []);
}

function printedCommand(name: string, path: string, typed: TypedFlags, more: readonly string[]): string {
  const replaced = new Set(more.map((flag) => flag.split(' ', 1)[0]));
  const kept = Object.entries(typed).flatMap(([name, value]) =>
    replaced.has(`--${name}`) ? [] : wordsOf(name, value),
  );
  const words = [`patchsmith ${name}`, printedWord(path), ...kept, ...more];
  // A secret is printed as ***, with which the command would be another one.
  return [...words, ...(words.join(' ').includes('***') ? ['# with the secret in place of ***'] : [])].join(
    ' ',
  );
}

function wordsOf(name: string, value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => wordsOf(name, one));
  if (typeof value === 'boolean') return [value ? `--${name}` : `--${name}=false`];
  const text = String(value);
  return [`--${name}${text.startsWith('-') ? '=' : ' '}${printedWord(text)}`];
}
