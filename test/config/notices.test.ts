import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';

const project = join(import.meta.dirname, '../..');
const file = await readFile(join(project, 'THIRD_PARTY_NOTICES.md'), 'utf8');

/** The libraries that the notices list, by licence. */
const listed = new Map(
  file
    .split(/^### /m)
    .slice(1)
    .map((section) => {
      const [licence = '', libraries = ''] = section.split('\n\n');
      return [licence, libraries.trim().replace(/\.$/, '').split(', ')] as const;
    }),
);

t.test('the notices are those of the lock file', async (t) => {
  const { stdout } = await promisify(execFile)(process.execPath, ['config/notices.mjs'], {
    cwd: project,
  });
  t.ok(file === stdout, '"npm run --silent notices > THIRD_PARTY_NOTICES.md" makes them anew');
});

t.test('every library that the gateway loads is listed, as it is installed', async (t) => {
  const { dependencies, optionalDependencies } = JSON.parse(
    await readFile(join(project, 'package.json'), 'utf8'),
  );
  const all = [...listed.values()].flat();
  t.ok(all.length > 200);
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    const path = join(project, 'node_modules', name, 'package.json');
    const { version, license } = JSON.parse(await readFile(path, 'utf8'));
    t.ok(listed.get(license)?.includes(`${name} ${version}`), `${name} ${version}: ${license}`);
  }
});

t.test('a licence that asks for more than a notice is that of one library', async (t) => {
  const permissive = /^(0BSD|Apache-2\.0|BlueOak-1\.0\.0|BSD-[23]-Clause|ISC|MIT)$/;
  const others = [...listed].filter(([licence]) => !permissive.test(licence));
  t.match(others, [['GPL-3.0', [/^libsignal /]]]);
  t.equal(others.length, 1);
  t.match(file, /^`libsignal` \(GPL-3\.0\) comes with `baileys`/m, 'and is named at the top');
});
