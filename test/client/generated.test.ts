import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { runGateway } from '../harness/gateway.ts';
import { installedClients } from '../harness/installed-clients.ts';

const generated = join(import.meta.dirname, '../../client/generated');

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { operationId: string }>>>>;
}

/** The file of the operations' methods and paths. */
function operationsFile({ paths }: Document): string {
  const lines = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, { operationId }]) => `  ${operationId}: '${method.toUpperCase()} ${path}',\n`,
    ),
  );
  return `/** Method and path of each operation. Generated from the OpenAPI document. */\nexport const paths = {\n${lines.join('')}} as const;\n`;
}

t.test('the types of the client are those of the OpenAPI document', async (t) => {
  const { baseUrl } = await runGateway(t, { databaseUrl: null });
  const text = await (await fetch(`${baseUrl}/docs/openapi.json`)).text();
  const folder = t.testdir({ 'openapi.json': text });
  const programs = join(await installedClients('openapi-clients'), 'node_modules/.bin');
  const [source, schema] = [join(folder, 'openapi.json'), join(folder, 'schema.ts')];
  await promisify(execFile)(join(programs, 'openapi-typescript'), [source, '-o', schema]);
  const fresh = {
    'operations.ts': operationsFile(JSON.parse(text)),
    'schema.ts': await readFile(schema, 'utf8'),
  };
  for (const [name, content] of Object.entries(fresh)) {
    const file = join(generated, name);
    if (process.env.UPDATE === '1') await writeFile(file, content);
    const isCurrent = (await readFile(file, 'utf8')) === content;
    t.ok(isCurrent, `${name}: "UPDATE=1 npm test -- test/client/generated.test.ts" makes it anew`);
  }
});
