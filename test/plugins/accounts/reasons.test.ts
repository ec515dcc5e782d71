import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { masked } from '../../../core/masked.ts';
import { reasonWords } from '../../../plugins/accounts/reasons.ts';

t.test('the page for operators has every reason, in the order of the schemas', async (t) => {
  const page = await readFile(join(import.meta.dirname, '../../../docs/production.md'), 'utf8');
  const [, section = ''] = page.split('## Why an account is as it is');
  const rows = section.split('\n## ')[0]?.matchAll(/^\| `([a-z_]+)` \| \S.* \| \S.* \|$/gm) ?? [];
  t.same(
    [...rows].map(([, word]) => word),
    reasonWords,
  );
});

t.test('of a phone number the log has the last four digits', async (t) => {
  for (const [sentence, expected] of [
    ['The number +1 (555) 000-1111 was linked.', 'The number …1111 was linked.'],
    ['+15550001111 and 49 151 2345678', '…1111 and …5678'],
    ['15550001111@net has gone', '…1111@net has gone'],
    ['nothing before 2026-01-31T09:30:00.000Z', 'nothing before 2026-01-31T09:30:00.000Z'],
    ['error 405 of 10.20.30.40:5222', 'error 405 of 10.20.30.40:5222'],
    ['account acc_01jxk5d8a0c1v7m2q3r4s5t6w7', 'account acc_01jxk5d8a0c1v7m2q3r4s5t6w7'],
  ] as const) {
    t.equal(masked(sentence), expected);
  }
});
