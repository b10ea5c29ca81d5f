/** Sentences that end with quoted words, which may have their own full stop. */

/** The text with exactly one full stop at its end; a question or an exclamation mark is enough. */
export function sentence(text: string): string {
  const bare = text.trimEnd().replace(/(?<!\.)\.$/, '');
  return /[?!]$|\.\.$/.test(bare) ? bare : `${bare}.`;
}
