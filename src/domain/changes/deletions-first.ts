/** The order in which changes are applied. */

/**
 * Puts deletions first, so that a file can replace a folder and a folder a file; otherwise keeps the order. `stateOf`
 * returns the new state of an item, null for a deletion.
 */
export function deletionsFirst<Item>(items: readonly Item[], stateOf: (item: Item) => object | null): Item[] {
  const isDeletion = (item: Item) => stateOf(item) === null;
  return [...items.filter(isDeletion), ...items.filter((item) => !isDeletion(item))];
}
