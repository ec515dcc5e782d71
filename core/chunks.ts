/**
 * Items in parts of so many, the last one of what is left. No part of no items; where all fit into one, it is the array
 * itself.
 */
export function* chunks<Item>(items: readonly Item[], size: number): Generator<readonly Item[]> {
  if (items.length > 0 && items.length <= size) {
    yield items;
    return;
  }
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}
