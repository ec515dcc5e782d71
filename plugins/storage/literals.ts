import type { Connection } from 'mysql2';
import type { Bound } from './bindings.ts';

/** Who escapes a text that needs it: mysql2, by its connection. */
export type Escaping = Pick<Connection, 'escape'>;

/** What has to be escaped in a text between single quotes, as MariaDB and MySQL read it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const special = /[\0\b\t\n\r\x1a"'\\]/;

/** A value as a statement for MariaDB or MySQL spells it. */
export function literal(escaping: Escaping, value: Bound): string {
  if (typeof value === 'number') return String(value);
  if (value === null) return 'NULL';
  return special.test(value) ? escaping.escape(value) : `'${value}'`;
}

/** Spells a value. */
export type FormatValue = (value: Bound) => string;

/**
 * A statement with its values in the places of its question marks, which stand for nothing else in it. mysql2's own
 * `format` looks for them character by character.
 * @throws Error when there are not as many places as values
 */
export function interpolate(spell: FormatValue, sql: string, bindings: readonly Bound[]): string {
  let text = '';
  let rest = 0;
  for (const value of bindings) {
    const place = sql.indexOf('?', rest);
    if (place === -1) throw unequal(sql, bindings);
    text += sql.slice(rest, place) + spell(value);
    rest = place + 1;
  }
  if (sql.includes('?', rest)) throw unequal(sql, bindings);
  return text + sql.slice(rest);
}

function unequal(sql: string, { length }: readonly Bound[]): Error {
  return new Error(`a statement has other than ${length} places: ${sql}`);
}
