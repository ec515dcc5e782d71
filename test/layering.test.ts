import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import t from 'tap';

const require = createRequire(import.meta.url);
const configuration = require.resolve('../.dependency-cruiser.cjs');
const { forbidden }: { forbidden: readonly Rule[] } = require(configuration);

interface Rule {
  readonly name: string;
  readonly comment: string;
  readonly severity: string;
}

const types = 'import type';

/** A file, what it imports, and how if not by value. */
type Case = readonly [file: string, imported: string, how?: typeof types];

const allowed: readonly Case[] = [
  ['core/fine-1.ts', 'core/errors.ts'],
  ['core/fine-2.ts', 'fastify'],
  ['core/contracts/sql.ts', 'knex', types],
  ['drivers/simulated/fine-1.ts', 'core/contracts/driver.ts'],
  ['drivers/simulated/fine-2.ts', 'core/errors.ts'],
  ['drivers/simulated/fine-3.ts', 'drivers/simulated/network/wire.ts'],
  ['drivers/simulated/fine-4.ts', 'ulid'],
  ['drivers/simulated/fine-5.ts', 'core/waiting.ts'],
  ['plugins/limits/fine-1.ts', 'core/kernel.ts'],
  ['plugins/limits/fine-2.ts', 'plugins/limits/rules/cap.ts'],
  ['plugins/limits/fine-3.ts', 'plugins/messages/contract.ts', types],
  ['plugins/limits/fine-4.ts', 'fastify'],
  ['plugins/limits/tables/fine-1.ts', 'knex', types],
  ['plugins/limits/tables/fine-2.ts', 'core/contracts/sql.ts'],
  ['plugins/limits/tables/schema.ts', 'core/contracts/schema.ts'],
  ['plugins/limits/tables/fine-3.ts', 'plugins/messages/contract.ts', types],
  ['plugins/limits/fine-5.ts', 'plugins/limits/tables/usage.ts'],
  ['plugins/storage/fine-1.ts', 'knex'],
  ['plugins/storage/fine-2.ts', 'mysql2'],
  ['config/fine.ts', 'core/errors.ts'],
  ['config/compose.ts', 'drivers/chatapp/driver.ts'],
  ['config/tables.ts', 'plugins/limits/tables/index.ts'],
  ['config/drivers.ts', 'drivers/chatapp/driver.ts'],
  ['main.ts', 'config/load.ts'],
  ['client/fine.ts', 'client/retry.ts'],
  ['public/fine-0.ts', 'client/client.ts'],
  ['public/fine-1.ts', 'core/contracts/driver.ts'],
  ['public/fine-2.ts', 'testing/contract/driver.ts'],
  ['public/fine-3.ts', 'testing/kit/driver-harness.ts'],
  ['testing/kit/fine-1.ts', 'drivers/simulated/driver.ts'],
  ['testing/kit/fine-2.ts', 'config/checked-driver.ts'],
  ['testing/kit/fine-3.ts', 'config/isolated/driver.ts'],
  ['testing/contract/driver.ts', 'testing/contract/driver/world.ts'],
  ['testing/contract/driver/fine.ts', 'tap', types],
  ['test/fine-1.ts', 'drivers/chatapp/driver.ts'],
  ['test/fine-2.ts', 'mysql2'],
  // The way back of the circle below, and a circle that is none, as a type closes it.
  ['core/circle-2.ts', 'core/circle-1.ts'],
  ['core/circle-of-types-1.ts', 'core/circle-of-types-2.ts'],
  ['core/circle-of-types-2.ts', 'core/circle-of-types-1.ts', types],
];

const refused: Readonly<Record<string, readonly Case[]>> = {
  'core-stays-in-core': [
    ['core/bad-1.ts', 'plugins/messages/service.ts'],
    ['core/bad-2.ts', 'plugins/messages/contract.ts', types],
    ['core/bad-3.ts', 'drivers/chatapp/driver.ts'],
    ['core/bad-4.ts', 'config/load.ts'],
  ],
  'driver-knows-contracts-only': [
    ['drivers/simulated/bad-1.ts', 'core/kernel.ts'],
    ['drivers/simulated/bad-2.ts', 'drivers/chatapp/driver.ts'],
    ['drivers/simulated/bad-3.ts', 'plugins/messages/contract.ts', types],
    ['drivers/simulated/bad-4.ts', 'config/load.ts'],
  ],
  'driver-without-server': [
    ['drivers/simulated/bad-5.ts', 'fastify', types],
    ['drivers/simulated/bad-6.ts', 'fastify-plugin'],
    ['drivers/simulated/bad-7.ts', 'awilix'],
  ],
  'plugin-without-driver': [
    ['plugins/limits/bad-1.ts', 'drivers/chatapp/driver.ts'],
    ['plugins/limits/bad-2.ts', 'drivers/chatapp/driver.ts', types],
  ],
  'plugin-without-configuration': [['plugins/limits/bad-3.ts', 'config/load.ts']],
  'plugin-meets-contract-only': [
    ['plugins/limits/bad-4.ts', 'plugins/messages/service.ts'],
    ['plugins/limits/bad-5.ts', 'plugins/messages/service.ts', types],
    ['plugins/limits/bad-6.ts', 'plugins/messages/rules/contract.ts', types],
    ['plugins/limits/bad-10.ts', 'plugins/messages/tables/messages.ts', types],
    ['plugins/limits/tables/bad-1.ts', 'plugins/messages/tables/messages.ts', types],
  ],
  'plugin-contract-is-types': [['plugins/limits/bad-7.ts', 'plugins/messages/contract.ts']],
  'storage-knows-no-noun': [
    ['plugins/storage/bad-1.ts', 'plugins/messages/contract.ts', types],
    ['plugins/storage/tables/bad-1.ts', 'plugins/messages/contract.ts', types],
  ],
  'sql-with-its-noun': [
    ['core/bad-5.ts', 'knex'],
    ['drivers/simulated/bad-8.ts', 'knex'],
    ['plugins/limits/bad-8.ts', 'libsql'],
    ['plugins/limits/bad-9.ts', 'mysql2', types],
    ['plugins/limits/bad-11.ts', 'core/contracts/sql.ts', types],
    ['plugins/limits/bad-12.ts', 'core/contracts/schema.ts'],
    ['config/bad-1.ts', 'core/contracts/sql.ts'],
  ],
  'tables-are-handed-their-database': [
    ['core/contracts/bad-1.ts', 'knex'],
    ['plugins/limits/tables/bad-2.ts', 'knex'],
    ['plugins/limits/tables/bad-3.ts', 'libsql'],
  ],
  'tables-meet-in-config': [['config/compose.ts', 'plugins/limits/tables/index.ts']],
  'config-stays-with-core': [['config/bad.ts', 'plugins/messages/service.ts']],
  'public-hands-on': [
    ['public/bad-1.ts', 'plugins/messages/service.ts'],
    ['public/bad-2.ts', 'test/harness/gateway.ts'],
  ],
  'client-imports-nothing': [
    ['client/bad-1.ts', 'core/errors.ts'],
    ['client/bad-2.ts', 'ulid'],
    ['client/bad-3.ts', 'core/contracts/messages.ts', types],
  ],
  'browser-code-alone': [
    ['plugins/console/web/bad-1.ts', 'plugins/console/page.ts', types],
    ['plugins/console/web/bad-2.ts', 'core/errors.ts'],
    ['plugins/console/web/bad-3.ts', 'ulid'],
  ],
  'browser-code-stays-there': [['plugins/console/bad-4.ts', 'plugins/console/web/bad-1.ts']],
  'testing-ships-with-the-package': [
    ['testing/kit/bad-1.ts', 'test/harness/gateway.ts'],
    ['testing/kit/bad-2.ts', 'config/load.ts', types],
    ['testing/contract/driver/bad-1.ts', 'plugins/messages/service.ts'],
  ],
  'testing-runs-without-tap': [
    ['testing/kit/bad-3.ts', 'tap'],
    ['testing/contract/driver/bad-2.ts', 'tap'],
  ],
  'main-starts-from-config': [['main.ts', 'plugins/messages/service.ts']],
  'no-circle': [['core/circle-1.ts', 'core/circle-2.ts']],
};

t.test('every rule is an error and has a case here', async (t) => {
  t.same(forbidden.map(({ name }) => name).sort(), Object.keys(refused).sort());
  for (const { name, severity } of forbidden) t.equal(severity, 'error', name);
});

t.test('the linter refuses what enters a room it may not, and nothing else', async (t) => {
  const cases = [...allowed, ...Object.values(refused).flat()];
  const { status, stdout } = await lint(t.testdir(), cases);
  const output = stdout.replaceAll(/\s+/g, ' ');
  for (const { name, comment } of forbidden) {
    t.ok(output.includes(comment), `${name} explains itself`);
    for (const [file, to] of refused[name] ?? []) {
      t.ok(output.includes(`error ${name}: ${file} → ${found(to)} `), `${name}: ${file} → ${to}`);
    }
  }
  t.equal(status, Object.values(refused).flat().length, 'nothing else is refused');
  if (!t.passing()) t.comment(stdout);
});

/** Runs the linter on a project made of the cases; its status is the number of errors. */
async function lint(folder: string, cases: readonly Case[]) {
  for (const [file, content] of Object.entries(project(cases))) {
    await mkdir(join(folder, dirname(file)), { recursive: true });
    await writeFile(join(folder, file), content);
  }
  const program = join(import.meta.dirname, '../node_modules/.bin/depcruise');
  const args = [program, '--config', configuration, '--output-type', 'err-long', '.'];
  return spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
}

/** The files of a project in which the cases, and all that they import, exist. */
function project(cases: readonly Case[]): Record<string, string> {
  const files: Record<string, string> = { 'package.json': '{ "type": "module" }' };
  files['tsconfig.json'] = '{ "compilerOptions": { "allowImportingTsExtensions": true } }';
  for (const [, to] of cases) files[found(to)] = 'export const x = 1;\n';
  for (const [file, to, how = 'import'] of cases) {
    const path = relative(dirname(file), to);
    const specifier = !isFile(to) ? to : path.startsWith('.') ? path : `./${path}`;
    files[file] =
      `${files[file] ?? ''}${how} { x } from '${specifier}';\nexport type X = typeof x;\n`;
  }
  return files;
}

/** Where an import is found: a file of the project, or a library. */
function found(imported: string): string {
  return isFile(imported) ? imported : `node_modules/${imported}/index.js`;
}

function isFile(imported: string): boolean {
  return imported.endsWith('.ts');
}
