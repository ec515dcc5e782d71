import type { Test } from 'tap';
import type { Bench } from './bench.ts';

/** Texts that no identifier rule gives back unchanged: empty, too long, or with invisible characters. */
const nonsense = [
  '',
  ' ',
  '\t\n',
  '\u0000',
  'a\u0007b@c',
  `${'x'.repeat(1_000)}@${'y'.repeat(1_000)}`,
];

/** What an account is called by. */
export async function naming(t: Test, bench: Bench): Promise<void> {
  const { identifier: rule } = bench.driver;

  await t.test('identifiers have one form', { skip: rule === undefined }, async (t) => {
    if (rule === undefined) return;
    t.match(rule.description, /\S/, 'says what to ask the user for');
    const { identifier } = await bench.world.account();
    t.equal(rule.parse(identifier), identifier, 'the form of an account is given back unchanged');
    for (const text of [identifier, ` ${identifier}\n`, identifier.toUpperCase(), ...nonsense]) {
      const parsed = rule.parse(text);
      if (parsed === null) continue;
      t.equal(rule.parse(parsed), parsed, 'what it has answered it gives back unchanged');
      t.ok(parsed.length > 0 && parsed.length <= 100, 'fits');
      t.notMatch(parsed, /\p{C}/u, 'has no control character');
    }
    for (const text of nonsense.slice(0, 3)) t.equal(rule.parse(text), null, 'nothing is no name');
  });
}
