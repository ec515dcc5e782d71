import t from 'tap';
import {
  identifierDescription,
  parseIdentifier,
  parseIdentifierInAddress,
} from '../../../plugins/accounts/identifiers.ts';

t.test('what an account is called by', async (t) => {
  const lower = (text: string) => (text.includes('@') ? text.toLowerCase() : null);
  const address = { identifier: { description: 'an address', parse: lower } };
  const nonsense = (answer: unknown) => ({
    // What a driver from outside may answer in spite of its types.
    identifier: { description: '', parse: () => answer as string },
  });
  const rows: [Parameters<typeof parseIdentifierInAddress>[0], string, string | null][] = [
    [{}, '+15550001111', '+15550001111'],
    [{}, '15550001111', null],
    [{}, 'ada@example.org', null],
    [address, 'Ada@example.org', 'ada@example.org'],
    [address, '+15550001111', null],
    [nonsense(''), 'x', null],
    [nonsense(7), 'x', null],
    [nonsense('two\nlines'), 'x', null],
    [nonsense('x'.repeat(100)), 'x', 'x'.repeat(100)],
    [nonsense('x'.repeat(101)), 'x', null],
  ];
  for (const [driver, text, expected] of rows) {
    if (driver !== null) t.equal(parseIdentifier(driver, text), expected, text);
  }
  t.equal(parseIdentifierInAddress({}, '15550001111'), '+15550001111', 'the + may be absent');
  t.equal(parseIdentifierInAddress(address, 'Ada@example.org'), 'ada@example.org');
  t.equal(parseIdentifierInAddress(null, '15550001111'), '+15550001111', 'the channel is off');
  t.equal(parseIdentifierInAddress(null, 'ada@example.org'), 'ada@example.org');
  t.equal(identifierDescription(address), 'an address');
  t.match(identifierDescription({}), /E\.164/);
});
