import { readFile, writeFile } from 'node:fs/promises';
import t from 'tap';
import { metricsReference } from './metrics-reference.ts';

const page = new URL('../../docs/metrics.md', import.meta.url);

t.test('docs/metrics.md holds the table of the code', async (t) => {
  const text = await readFile(page, 'utf8');
  const intro = text.slice(0, text.indexOf('| metric') >>> 0);
  if (process.env.UPDATE === '1') await writeFile(page, intro + metricsReference());
  const table = (await readFile(page, 'utf8')).slice(intro.length);
  t.equal(table, metricsReference(), 'UPDATE=1 npm test -- THIS FILE prints it anew');
});
