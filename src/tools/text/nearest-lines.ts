/** Finds the place in a file that is most similar to a text it does not contain. */

/** Maximum lines of a file that are examined, lines shown, and characters of a line compared and shown. */
const MAX_LINES = 20_000;
const MAX_SHOWN = 12;
const MAX_CHARS = 200;
/** Less similar lines are considered unrelated. */
const MIN_SIMILARITY = 0.4;

/**
 * The lines most similar to `find`, with their numbers (`12: text`); empty when none is similar. Leading and trailing
 * whitespace is ignored. The work is linear in the text, and bounded for large files.
 */
export function nearestLines(text: string, find: string): string {
  const lines = text.split('\n', MAX_LINES).map((line) => line.replace(/\r$/, '').slice(0, MAX_CHARS));
  const wanted = find.split('\n').map((line) => line.trim().slice(0, MAX_CHARS));
  const start = placeByEqualLines(lines, wanted) ?? placeByAlikeLine(lines, wanted);
  if (start === null) return '';
  const first = Math.max(0, start);
  const shown = lines.slice(first, Math.min(first + MAX_SHOWN, start + Math.max(1, wanted.length)));
  return shown.map((line, index) => `${first + index + 1}: ${line}`).join('\n');
}

/** Every line that is equal, ignoring outer whitespace, votes for where the text would begin. */
function placeByEqualLines(lines: readonly string[], wanted: readonly string[]): number | null {
  const offsets = new Map<string, number>();
  wanted.forEach((line, offset) => {
    if (line.length > 3 && !offsets.has(line)) offsets.set(line, offset);
  });
  const votes = new Map<number, number>();
  lines.forEach((line, at) => {
    const offset = offsets.get(line.trim());
    if (offset !== undefined) votes.set(at - offset, (votes.get(at - offset) ?? 0) + 1);
  });
  let best: number | null = null;
  for (const [start, count] of votes) if (best === null || count > (votes.get(best) ?? 0)) best = start;
  return best;
}

/** Uses only the longest line of the wanted text, since it distinguishes places best. */
function placeByAlikeLine(lines: readonly string[], wanted: readonly string[]): number | null {
  const longest = wanted.reduce((a, b) => (b.length > a.length ? b : a), '');
  const pairs = pairsOf(longest);
  let best = { at: -1, similarity: 0 };
  for (const [at, line] of lines.entries()) {
    const similarity = similarityTo(pairs, line.trim());
    if (similarity > best.similarity) best = { at, similarity };
  }
  return best.similarity < MIN_SIMILARITY ? null : best.at - wanted.indexOf(longest);
}

/** Shared pairs of adjacent characters (Sørensen–Dice): 1 is equal, 0 is nothing in common. */
function similarityTo(pairs: ReadonlySet<string>, line: string): number {
  if (pairs.size === 0) return 0;
  let shared = 0;
  for (let at = 0; at + 1 < line.length; at += 1) if (pairs.has(line.slice(at, at + 2))) shared += 1;
  return (2 * Math.min(shared, pairs.size)) / (pairs.size + Math.max(0, line.length - 1));
}

function pairsOf(text: string): ReadonlySet<string> {
  const pairs = new Set<string>();
  for (let at = 0; at + 1 < text.length; at += 1) pairs.add(text.slice(at, at + 2));
  return pairs;
}
