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
