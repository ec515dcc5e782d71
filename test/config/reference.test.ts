import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import t from 'tap';

t.test('config/README.md is what the schema says', async (t) => {
  const page = await readFile(new URL('../../config/README.md', import.meta.url), 'utf8');
  const made = execFileSync(process.execPath, ['--import', 'tsx', 'config/print-reference.ts'], {
    cwd: new URL('../..', import.meta.url),
    encoding: 'utf8',
  });
  t.equal(page, made, 'npm run --silent configuration > config/README.md makes it anew');
});
