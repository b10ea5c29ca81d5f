/** Cuts texts: to a length, in UTF-16 code units, without splitting a surrogate pair, or at their end. */

/** At most `length` units from the beginning. */
export function firstUnits(text: string, length: number): string {
  const cut = text.slice(0, Math.max(0, length));
  const splitsPair = cut.length < text.length && /[\ud800-\udbff]$/.test(cut);
  return splitsPair ? cut.slice(0, -1) : cut;
}

/** At most `length` units from the end. */
export function lastUnits(text: string, length: number): string {
  const cut = length > 0 ? text.slice(-length) : '';
  const splitsPair = cut.length < text.length && /^[\udc00-\udfff]/.test(cut);
  return splitsPair ? cut.slice(1) : cut;
}

/** The text, or as much of its beginning as fits into `maxLength` units together with an ellipsis. */
export function shortened(text: string, maxLength: number): string {
  return text.length > maxLength ? `${firstUnits(text, maxLength - 1)}…` : text;
}

/** The text without these characters at its end. An expression such as `/ +$/` would start anew at each of them. */
export function withoutTail(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
