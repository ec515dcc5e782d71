import { storedText } from '../../core/stored-text.ts';

/** A value as both drivers take it. */
export type Bound = string | number | null;

/**
 * Checks the values of one statement before a driver sees them, so that both engines store the same:
 * - a boolean becomes 0 or 1 (libsql aborts the process on one);
 * - a NUL character becomes U+FFFD (libsql would cut the text there), and so does half of a surrogate pair;
 * - anything else but text, a finite number or null is refused: libsql would store NULL for a missing value, and mysql2
 *   would write an object as SQL.
 * @throws TypeError
 */
export function bindable(values: readonly unknown[]): Bound[] {
  const bound: Bound[] = [];
  for (const value of values) bound.push(boundOf(value));
  return bound;
}

function boundOf(value: unknown): Bound {
  if (typeof value === 'string') return storedText(value);
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value === null || (typeof value === 'number' && Number.isFinite(value))) return value;
  throw new TypeError(`cannot store ${describe(value)}: use text, a finite number or null`);
}

function describe(value: unknown): string {
  if (typeof value === 'number') return String(value);
  return typeof value === 'object' ? 'an object' : `a value of type ${typeof value}`;
}
