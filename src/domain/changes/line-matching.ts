/** Which replaced lines live on in the new ones, as after a formatter or a small edit of an edited line. */

/** The features of a line that are compared, computed once. */
interface Features {
  readonly bare: string;
  readonly words: ReadonlyMap<string, number>;
  readonly wordCount: number;
}

/**
 * Maximum number of pairs compared in one place; in a larger rewrite only lines that are equal except for whitespace are
 * paired.
 */
const MAX_PAIRS = 10_000;

/** Minimum length: shorter texts are too common for containment to mean anything. */
const MIN_CONTAINED = 4;

/** For each new line, the changes that added the old lines it derives from. */
export function matchLines(
  added: readonly string[],
  removed: readonly { readonly text: string; readonly by: readonly number[] }[],
): number[][] {
  const brought = removed.filter(({ by }) => by.length > 0);
  if (brought.length === 0) return added.map(() => []);
  if (added.length * brought.length > MAX_PAIRS) return bareForebears(added, brought);
  const old = brought.map(({ text, by }) => ({ features: featuresOf(text), by }));
  return added.map((text) => {
    const features = featuresOf(text);
    return old.filter((one) => descends(features, one.features)).flatMap(({ by }) => by);
  });
}

function bareForebears(
  added: readonly string[],
  brought: readonly { readonly text: string; readonly by: readonly number[] }[],
): number[][] {
  const byBare = new Map<string, Set<number>>();
  for (const { text, by } of brought) {
    const bare = bareOf(text);
    byBare.set(bare, new Set([...(byBare.get(bare) ?? []), ...by]));
  }
  return added.map((text) => (bareOf(text) === '' ? [] : [...(byBare.get(bareOf(text)) ?? [])]));
}

function bareOf(text: string): string {
  return text.replace(/[\s'"`;,()]/g, '');
}

/**
 * Equal except for whitespace and punctuation, one inside the other (a line was split or joined), or half of the words in
 * common.
 */
function descends(a: Features, b: Features): boolean {
  if (a.bare !== '' && a.bare === b.bare) return true;
  const [short, long] = a.bare.length < b.bare.length ? [a.bare, b.bare] : [b.bare, a.bare];
  if (short.length >= MIN_CONTAINED && long.includes(short)) return true;
  let shared = 0;
  for (const [word, count] of a.words) shared += Math.min(count, b.words.get(word) ?? 0);
  return shared > 0 && shared * 2 >= Math.max(a.wordCount, b.wordCount);
}

function featuresOf(text: string): Features {
  const found = text.match(/[\p{L}\p{N}_]+/gu) ?? [];
  const words = new Map<string, number>();
  for (const word of found) words.set(word, (words.get(word) ?? 0) + 1);
  return { bare: bareOf(text), words, wordCount: found.length };
}
