import { readFile } from 'node:fs/promises';
import { Ajv } from 'ajv';
import t from 'tap';
import { configReference } from '../../config/reference.ts';
import { configSchema } from '../../config/schema.ts';

t.test('config/README.md holds the table that the schema makes', async (t) => {
  const page = await readFile(new URL('../../config/README.md', import.meta.url), 'utf8');
  const table = page.slice(page.indexOf('| field'));
  t.equal(table, configReference(), '`npm run --silent gateway -- settings` prints it anew');
});

t.test('the schema is one, which no start looks at again', async (t) => {
  const ajv = new Ajv({ strict: false });
  t.ok(ajv.validateSchema(configSchema), ajv.errorsText());
});
