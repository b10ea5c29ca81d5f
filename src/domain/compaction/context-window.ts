/** The maximum number of tokens of a request to a model, if its vendor documents it. */

/** The beginnings of model ids with their windows; the first that fits counts. Compared with the vendors' pages on 2026-11-22. */
const WINDOWS: readonly (readonly [id: RegExp, tokens: number])[] = [
  [/^claude-[a-z]+-4/, 200_000],
  [/^claude-/, 1_000_000],
  [/^gpt-3\.5/, 16_000],
  [/^gpt-4(-turbo|o)/, 128_000],
  [/^gpt-oss/, 128_000],
];

/** Null if it is not known, as for a model on the user's own server. */
export function windowOf(model: string): number | null {
  return WINDOWS.find(([id]) => id.test(model))?.[1] ?? null;
}
