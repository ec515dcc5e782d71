import { isJsonObject } from '../core/json-object.ts';

/** An object of any fields, while the configuration is put together. */
export type Tree = { [name: string]: unknown };

/** Replaces the value at a path by what `change` makes of it; missing objects are made on the way. */
export function setAt(
  tree: Tree,
  path: readonly string[],
  change: (present: unknown) => unknown,
): void {
  let at = tree;
  for (const name of path.slice(0, -1)) {
    const next = at[name];
    if (isJsonObject(next)) {
      at = next;
    } else {
      const made: Tree = {};
      at[name] = made;
      at = made;
    }
  }
  const last = path.at(-1);
  if (last === undefined) return;
  const value = change(at[last]);
  if (value !== undefined) at[last] = value;
}

/** The value at a path, or undefined. */
export function valueAt(tree: unknown, path: readonly string[]): unknown {
  let at = tree;
  for (const name of path) at = isJsonObject(at) ? at[name] : undefined;
  return at;
}
