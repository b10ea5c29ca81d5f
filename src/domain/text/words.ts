/** Numbers for people. */

/**
 * With commas between thousands and at most three decimals: `40,000`, `1.5`. The runtime's own `toLocaleString` gives the
 * same but needs 15 ms to load its tables, which every run would pay at its end.
 */
export function formatNumber(n: number): string {
  const [whole = '', decimals] = String(Math.round(n * 1000) / 1000).split('.');
  const grouped = whole.replace(/\B(?=(?:\d{3}){1,7}$)/g, ',');
  return decimals === undefined ? grouped : `${grouped}.${decimals}`;
}

/** `1 file`, `2 files`, `10,000 files`: the noun takes an s unless there is exactly one. */
export function pluralize(n: number, noun: string): string {
  return `${formatNumber(n)} ${noun}${n === 1 ? '' : 's'}`;
}

/** The first `most` names and the number of the rest: `a, b and 3 more`, or with a noun `a, b and 3 more files`. */
export function listed(names: readonly string[], most: number, noun?: string): string {
  const shown = names.slice(0, most).join(', ');
  const left = names.length - most;
  if (left <= 0) return shown;
  return `${shown} and ${noun === undefined ? `${formatNumber(left)} more` : pluralize(left, `more ${noun}`)}`;
}

/** In powers of 1024, with one decimal below ten: `3.1 GB`, `44 MB`, `12 KB`, `0 KB`. */
export function formatSize(bytes: number): string {
  for (const [unit, factor] of UNITS) {
    const value = bytes / factor;
    if (value >= 0.95 || unit === 'KB')
      return `${value < 9.95 && unit !== 'KB' ? value.toFixed(1) : Math.round(value)} ${unit}`;
  }
  return `${bytes}`;
}

const UNITS = [
  ['GB', 1024 ** 3],
  ['MB', 1024 ** 2],
  ['KB', 1024],
] as const;

/** The text with exactly one full stop at its end; a question or an exclamation mark is enough. */
export function sentence(text: string): string {
  const bare = text.trimEnd().replace(/(?<!\.)\.$/, '');
  return /[?!]$|\.\.$/.test(bare) ? bare : `${bare}.`;
}
