import mysql2 from 'mysql2';
import t from 'tap';
import { interpolate, literal } from '../../../plugins/storage/packet.ts';

const { format } = mysql2;
const escaping = { escape: mysql2.escape };
const spell = (value: string | number | null) => literal(escaping, value);

const injected = "\\'; drop table messages; -- ";
const texts = [
  '',
  '?',
  'NULL',
  "it's",
  '"',
  '`',
  'a\\',
  '%_',
  '$&',
  '\n\r\t\b\0\x1a',
  'ä😀\u2028',
  injected,
];
const values = [...texts, 'x'.repeat(5_000), null, 0, -1, 1.5, 1e21, Number.MAX_SAFE_INTEGER];

t.test('a value is spelled as mysql2 spells it', async (t) => {
  for (const value of values) t.equal(literal(escaping, value), mysql2.escape(value));
  for (let code = 0; code < 256; code += 1) {
    const text = `a${String.fromCharCode(code)}b`;
    t.equal(literal(escaping, text), mysql2.escape(text), `character ${code}`);
  }
});

t.test('a statement gets its values in order', async (t) => {
  const sql = `insert into \`things\` (a, b) values ${'(?, ?), '.repeat(values.length).slice(0, -2)} on duplicate key update a = ?`;
  const bindings = [...values, ...values, 'last'];
  t.equal(interpolate(spell, sql, bindings), format(sql, bindings));
  t.equal(interpolate(spell, 'COMMIT', []), 'COMMIT');
});

t.test('a value too many or too few is refused', async (t) => {
  const wrong = { message: /does not have \d placeholders/ };
  t.throws(() => interpolate(spell, 'select ?', []), wrong);
  t.throws(() => interpolate(spell, 'select ?', [1, 2]), wrong);
  t.throws(() => interpolate(spell, "select '?', ?", [1]), wrong, 'a question mark is a place');
});
