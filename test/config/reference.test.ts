import { readFile } from 'node:fs/promises';
import t from 'tap';
import { configReference } from '../../config/reference.ts';

t.test('config/README.md holds the table that the schema makes', async (t) => {
  const page = await readFile(new URL('../../config/README.md', import.meta.url), 'utf8');
  const table = page.slice(page.indexOf('| field'));
  t.equal(table, configReference(), '`npm run --silent gateway -- settings` prints it anew');
});
