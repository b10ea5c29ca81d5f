/** Finds secrets in what a patch adds. */

import * as z from 'zod';
import { tokensIn } from './token-formats.ts';

/** `line` counts from 1 in the new file; 0 is the file's name. The value itself is never told. */
export const FoundSecret = z.strictObject({
  path: z.string(),
  line: z.int().nonnegative(),
  what: z.string().describe('The kind of token, or that a known value was found'),
});
export type FoundSecret = z.infer<typeof FoundSecret>;

export interface AddedText {
  readonly path: string;
  /** The contents, whatever they are, as text; empty where there was no file. */
  readonly before: string;
  readonly after: string;
}

/** Where known secret values begin in a text, in any form that they are known in. */
export type FindKnown = (text: string) => readonly number[];

/**
 * Looks at lines that the file did not have before: what was only moved is nothing new. At most one finding a line and
 * kind.
 */
export function addedSecrets({ path, before, after }: AddedText, findKnown: FindKnown): FoundSecret[] {
  const added = addedLines(before, after);
  // Text of two bytes a character is found as well.
  const narrow = added.map(({ text, number }) => ({ text: text.replaceAll('\0', ''), number }));
  const inLines = [...secretsInLines(added, findKnown), ...secretsInLines(narrow, findKnown)];
  const inName = secretsIn(path, findKnown).map(({ what }) => ({ line: 0, what }));
  const all = new Map([...inName, ...inLines].map((one) => [`${one.line} ${one.what}`, one]));
  return [...all.values()].sort((a, b) => a.line - b.line).map((one) => ({ path, ...one }));
}

interface NumberedLine {
  readonly text: string;
  readonly number: number;
}

/** Looked for in all lines together, since an encoded secret can go over several. */
function secretsInLines(
  lines: readonly NumberedLine[],
  findKnown: FindKnown,
): { line: number; what: string }[] {
  const starts: number[] = [];
  let at = 0;
  for (const { text } of lines) {
    starts.push(at);
    at += text.length + 1;
  }
  const text = lines.map((line) => line.text).join('\n');
  return secretsIn(text, findKnown).map(({ index, what }) => ({
    line: lines[lastAtMost(starts, index)]?.number ?? 1,
    what,
  }));
}

function secretsIn(text: string, findKnown: FindKnown): { index: number; what: string }[] {
  return [
    ...findKnown(text).map((index) => ({ index, what: 'a known secret value' })),
    ...tokensIn(text).map(({ name, index }) => ({ index, what: name })),
  ];
}

function addedLines(before: string, after: string): NumberedLine[] {
  const had = new Map<string, number>();
  for (const line of before === '' ? [] : before.split('\n')) had.set(line, (had.get(line) ?? 0) + 1);
  return after.split('\n').flatMap((text, index) => {
    const left = had.get(text) ?? 0;
    if (left > 0) had.set(text, left - 1);
    return left > 0 ? [] : [{ text, number: index + 1 }];
  });
}

/** The place of the last of the sorted numbers that is not above `limit`. */
function lastAtMost(sorted: readonly number[], limit: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
