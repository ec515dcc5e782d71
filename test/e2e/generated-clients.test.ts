import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { runGateway } from '../harness/gateway.ts';
import { installedClients } from '../harness/installed-clients.ts';
import { tsc } from '../harness/packed.ts';

/** What must and must not compile against the types of each generator. */
const programs = {
  'openapi-typescript': {
    generate: ['openapi-typescript', 'openapi.yaml', '-o', 'types.ts'],
    program: `
      import type { paths } from './types.ts';
      type Send = paths['/messages']['post'];
      type Body = Send['requestBody']['content']['application/json'];
      type Code = Send['responses'][422]['content']['application/json']['error_code'];
    `,
  },
  'hey-api': {
    generate: ['openapi-ts', '-i', 'openapi.yaml', '-o', '.', '-p', '@hey-api/typescript'],
    program: `
      import type { SendMessageData, SendMessageErrors } from './types.gen.ts';
      type Body = SendMessageData['body'];
      type Code = SendMessageErrors[422]['error_code'];
    `,
  },
};

const checks = `
  export const byPhone: Body = { to: { phone: '+12025550123' }, text: 'Hello' };
  export const byBoth: Body = { to: { phone: '+12025550123', contact_id: 'con_1' }, text: 'Hello' };
  // @ts-expect-error a recipient is no number
  export const wrong: Body = { to: 5, text: 'Hello' };
  // @ts-expect-error a recipient has a name
  export const nobody: Body = { to: {}, text: 'Hello' };
  export const code: Code = 'contact_private';
  // @ts-expect-error there is no such refusal
  export const misspelt: Code = 'contact_privat';
`;

t.test(
  'types generated from the document know the recipient and the codes of each refusal',
  async (t) => {
    const gateway = await runGateway(t, { databaseUrl: null, settings: {} });
    const clients = join(await installedClients('openapi-clients'), 'node_modules/.bin');
    const document = await (await fetch(`${gateway.baseUrl}/docs/openapi.yaml`)).text();
    for (const [name, { generate, program }] of Object.entries(programs)) {
      const folder = await mkdtemp(join(tmpdir(), 'generated-'));
      t.teardown(() => rm(folder, { recursive: true, force: true }));
      const run = (command: string, ...args: readonly string[]) =>
        promisify(execFile)(command, args, { cwd: folder }).then(
          () => '',
          ({ stdout, stderr }) => `${stdout}${stderr}`,
        );
      await writeFile(join(folder, 'openapi.yaml'), document);
      const [generator = '', ...args] = generate;
      t.equal(await run(join(clients, generator), ...args), '', `${name} reads the document`);
      await writeFile(join(folder, 'program.ts'), `${program}${checks}`);
      const strict = ['--noEmit', '--strict', '--allowImportingTsExtensions', '--module', 'esnext'];
      const module = ['--target', 'es2022', '--moduleResolution', 'bundler', 'program.ts'];
      const compiler = [process.execPath, tsc] as const;
      t.equal(await run(...compiler, ...strict, ...module), '', `${name}: the program compiles`);
    }
  },
);
