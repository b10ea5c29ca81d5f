/** Finds secrets in what a patch adds. */

import * as z from 'zod';
import { type FoundPlace, tokensIn } from './token-formats.ts';

/** `line` counts from 1 in the new file; 0 means the file's name. The value itself is never reported. */
export const FoundSecret = z.strictObject({
  path: z.string(),
  line: z.int().nonnegative(),
  what: z.string().describe('The kind of token, or that a known value was found'),
});
export type FoundSecret = z.infer<typeof FoundSecret>;

/** A file before and after, for finding what was added. */
export interface AddedText {
  readonly path: string;
  /** The contents as text, whatever they are; empty if there was no file. */
  readonly before: string;
  readonly after: string;
}

/** Returns where known secret values are in a text, in any form that is known: lists of places, each in the order of the text. */
export type FindKnown = (text: string) => readonly Iterable<FoundPlace>[];

/** Maximum number of findings kept per file; one is enough to withhold the patch. */
const MAX_FOUND = 1_000;
/** Maximum number of lines with secrets of a file before that are remembered: a dump has thousands with the name of its owner. */
const MAX_COMPARED = 100_000;

/** Examines what the file did not have before: lines that were only moved are not new. At most one finding per line and kind. */
export function addedSecrets({ path, before, after }: AddedText, findKnown: FindKnown): FoundSecret[] {
  const inName = [...linesWithSecrets(path, findKnown)].map(({ what }) => ({ line: 0, what }));
  const found = [...inName, ...inAddedLines(before, after, findKnown)];
  // Text with two bytes per character is searched too; it has the same line endings.
  if (after.includes('\0')) found.push(...inAddedLines(narrow(before), narrow(after), findKnown));
  const all = new Map(found.map((one) => [`${one.line} ${one.what}`, one]));
  const sorted = [...all.values()].sort((a, b) => a.line - b.line).slice(0, MAX_FOUND);
  return sorted.map((one) => ({ path, ...one }));
}

function narrow(text: string): string {
  return text.replaceAll('\0', '');
}

/** Lines with a secret that occur more often than before. */
function inAddedLines(before: string, after: string, findKnown: FindKnown): Omit<FoundSecret, 'path'>[] {
  const left = new Map<string, number>();
  for (const { key } of linesWithSecrets(before, findKnown)) {
    left.set(key, (left.get(key) ?? 0) + 1);
    // What was there beyond that counts as new.
    if (left.size === MAX_COMPARED) break;
  }
  const added: Omit<FoundSecret, 'path'>[] = [];
  for (const { line, what, key } of linesWithSecrets(after, findKnown)) {
    const times = left.get(key) ?? 0;
    if (times > 0) left.set(key, times - 1);
    else added.push({ line, what });
    // The rest is not examined.
    if (added.length === MAX_FOUND)
      return [...added, { line: 0, what: 'has too many places that look like secrets' }];
  }
  return added;
}

/** The line in which a secret begins; `key` is the same for the same secret in the same lines. */
interface SecretLines {
  readonly line: number;
  readonly what: string;
  readonly key: string;
}

function* linesWithSecrets(text: string, findKnown: FindKnown): Generator<SecretLines> {
  for (const places of findKnown(text)) yield* linesOf(text, 'a known secret value', places);
  for (const { name, places } of tokensIn(text)) yield* linesOf(text, name, places);
}

/** Follows the text line by line, since one line may have any number of places, and the text any number of lines. */
function* linesOf(text: string, what: string, places: Iterable<FoundPlace>): Generator<SecretLines> {
  let [line, start, newline, end] = [1, 0, text.indexOf('\n'), -1];
  for (const { index, length } of places) {
    // In the lines of the last one.
    if (index + length <= end) continue;
    for (; newline !== -1 && newline < index; newline = text.indexOf('\n', start))
      [line, start] = [line + 1, newline + 1];
    const next = text.indexOf('\n', index + length);
    end = next === -1 ? text.length : next;
    yield { line, what, key: `${what} ${text.slice(start, end)}` };
  }
}
