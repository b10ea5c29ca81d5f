/** The order in which changes are put in place. */

/**
 * Deletions come first, so that a file can take the place of a folder and a folder that of a file; otherwise the order stays.
 * `stateOf` is what an item becomes, null for a deletion.
 */
export function deletionsFirst<Item>(items: readonly Item[], stateOf: (item: Item) => object | null): Item[] {
  const isDeletion = (item: Item) => stateOf(item) === null;
  return [...items.filter(isDeletion), ...items.filter((item) => !isDeletion(item))];
}
