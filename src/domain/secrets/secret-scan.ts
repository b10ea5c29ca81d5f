/** Finds secrets in what a patch adds. */

import * as z from 'zod';
import { tokensIn } from './token-formats.ts';

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

/** Returns where known secret values are in a text, in any form that is known. */
export type FindKnown = (text: string) => Iterable<FoundPlace>;

/** A part of a text that has a secret. */
export interface FoundPlace {
  readonly index: number;
  readonly length: number;
}

/** Maximum number of findings kept per file; one is enough to withhold the patch. */
const MAX_FOUND = 1_000;

/** Maximum number of lines with secrets that are compared with those before: a dump has thousands with the name of its owner. */
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
  const found: SecretLines[] = [];
  for (const one of linesWithSecrets(after, findKnown)) {
    if (found.length === MAX_COMPARED) break;
    found.push(one);
  }
  if (found.length === 0) return [];
  const left = new Map(found.map(({ key }) => [key, 0]));
  for (const { key } of linesWithSecrets(before, findKnown)) {
    const times = left.get(key);
    if (times !== undefined) left.set(key, times + 1);
  }
  const added = found.filter(({ key }) => {
    const times = left.get(key) ?? 0;
    left.set(key, times - 1);
    return times <= 0;
  });
  // The rest has not been examined.
  const more =
    found.length < MAX_COMPARED ? [] : [{ line: 0, what: 'has too many places that look like secrets' }];
  return [...added.map(({ line, what }) => ({ line, what })), ...more];
}

/** The line in which a secret begins; `key` is the same for the same secret in the same lines. */
interface SecretLines {
  readonly line: number;
  readonly what: string;
  readonly key: string;
}

function* linesWithSecrets(text: string, findKnown: FindKnown): Generator<SecretLines> {
  yield* linesOf(text, findKnown(text), () => 'a known secret value');
  yield* linesOf(text, tokensIn(text), ({ name }) => name);
}

/** Follows the text line by line, since one line may have any number of places, and the text any number of lines. */
function* linesOf<Place extends FoundPlace>(
  text: string,
  places: Iterable<Place>,
  whatOf: (place: Place) => string,
): Generator<SecretLines> {
  let [line, start, newline] = [1, 0, text.indexOf('\n')];
  let found = new Set<string>();
  for (const place of places) {
    // Places of one kind come in order; those of the next begin again.
    if (place.index < start) [line, start, newline, found] = [1, 0, text.indexOf('\n'), new Set()];
    for (; newline !== -1 && newline < place.index; newline = text.indexOf('\n', start)) {
      [line, start, found] = [line + 1, newline + 1, new Set()];
    }
    const what = whatOf(place);
    if (found.has(what)) continue;
    found.add(what);
    const end = text.indexOf('\n', place.index + place.length);
    yield { line, what, key: `${what} ${text.slice(start, end === -1 ? text.length : end)}` };
  }
}
