import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { DriverError } from '../../core/contracts/driver.ts';

const run = promisify(execFile);
const project = join(import.meta.dirname, '../..');
const tsc = join(project, 'node_modules/typescript/bin/tsc');

/** As strict as the gateway itself. */
const strict = {
  target: 'es2023',
  module: 'nodenext',
  types: ['node'],
  strict: true,
  skipLibCheck: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  verbatimModuleSyntax: true,
};

/** A driver as somebody outside writes it, and everything of the types that it relies on. */
const driverSource = `
import { DriverError, type Driver, type DriverFactory, type LinkStep, type Session } from 'messaging-gateway/driver';

class MailSession implements Session {
  async link(): Promise<void> {}
  async answer(): Promise<'accepted' | 'wrong'> { return 'wrong'; }
  async resume(): Promise<void> {}
  async send(): Promise<never> {
    throw new DriverError('mailbox_full', 'The mailbox is full.', { certain: true });
  }
  async logOut(): Promise<void> {}
  close(): void {}
}
const makeMailDriver: DriverFactory = () => {
  const driver: Driver = {
    capabilities: {
      deduplicates: false, deliveredReceipts: false, recipients: 'contacts',
      linkMethods: ['password'], imports: { contacts: false, history: false }, media: false,
    },
    identifier: { description: 'an address', parse: (text) => text },
    open: () => new MailSession(),
  };
  return driver;
};
export default makeMailDriver;
// @ts-expect-error a driver links its accounts in one way at least
export const none: Driver['capabilities']['linkMethods'] = [];
// @ts-expect-error a step names what it asks for
export const step: LinkStep = { type: 'ask' };
// @ts-expect-error what is not exported is not reachable
export type Hidden = typeof import('messaging-gateway/dist/core/kernel.js');
`;

const pluginSource = `
import { Closed, GatewayError, gatewayPlugin, operation } from 'messaging-gateway/plugin';
import { driverContract, MemoryPort } from 'messaging-gateway/testing';

export default gatewayPlugin('greetings', [], async (app) => {
  app.operations.add(operation({
    id: 'greet', method: 'GET', path: '/greeting', tool: null, group: 'accounts', summary: 'Greet',
    description: 'Greets.', hints: { readOnly: true, destructive: false, idempotent: true },
    params: null, query: null, body: null, answers: { 200: Closed({}) }, errors: [], examples: [],
    handler: async ({ caller }) => {
      if (caller.status === 'suspended') throw new GatewayError('account_suspended');
      return { status: 200, body: {} };
    },
  }));
});
export const harness = [driverContract, MemoryPort];
`;

/** Packs the project and installs the tarball in a folder, with the libraries that are here. */
async function installed(folder: string): Promise<string> {
  const stage = join(folder, 'stage');
  await mkdir(stage);
  // Types are checked by the run of the type check.
  const build = ['-p', 'tsconfig.build.json', '--noCheck', '--sourceMap', 'false'];
  await run(process.execPath, [tsc, ...build, '--outDir', join(stage, 'dist')], { cwd: project });
  for (const name of ['package.json', 'README.md', 'LICENSE']) {
    await cp(join(project, name), join(stage, name));
  }
  await cp(join(project, 'config/README.md'), join(stage, 'left-out.md'));
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--silent'], { cwd: stage });
  const home = join(folder, 'home');
  const target = join(home, 'node_modules/messaging-gateway');
  await mkdir(target, { recursive: true });
  await run('tar', ['-xzf', join(stage, stdout.trim()), '--strip-components=1', '-C', target]);
  for (const name of await readdir(join(project, 'node_modules'))) {
    if (name.startsWith('.')) continue;
    await symlink(join(project, 'node_modules', name), join(home, 'node_modules', name));
  }
  return home;
}

t.test('the packed project, as a driver or plugin from outside finds it', async (t) => {
  const home = await installed(t.testdir());
  const target = join(home, 'node_modules/messaging-gateway');
  t.same((await readdir(target)).sort(), ['LICENSE', 'README.md', 'dist', 'package.json']);

  const compilerOptions = { ...strict, outDir: 'built', rootDir: '.' };
  const files = ['mail.ts', 'plugin.ts'];
  await writeFile(join(home, 'package.json'), JSON.stringify({ type: 'module' }));
  await writeFile(join(home, 'mail.ts'), driverSource);
  await writeFile(join(home, 'plugin.ts'), pluginSource);
  await writeFile(join(home, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  const checked = await run(process.execPath, [tsc], { cwd: home }).catch((error) => error);
  t.equal(checked.stdout, '', 'the types are what the sources expect');

  const program = `
    const { default: make } = await import('./built/mail.js');
    const plugin = await import('./built/plugin.js');
    const error = await make().open().send().catch((error) => error);
    const reach = (path) => import('messaging-gateway' + path).then(() => 'reached', ({ code }) => code);
    const paths = ['', '/core/kernel', '/dist/core/kernel.js', '/dist/public/driver.js'];
    const codes = await Promise.all(paths.map(reach));
    console.log(JSON.stringify({ code: error.code, plugin: typeof plugin.default, codes }));
  `;
  const args = ['--input-type=module', '--eval', program];
  const { stdout } = await run(process.execPath, args, { cwd: home });
  const hidden = 'ERR_PACKAGE_PATH_NOT_EXPORTED';
  t.strictSame(JSON.parse(stdout), {
    code: 'mailbox_full',
    plugin: 'function',
    codes: [hidden, hidden, hidden, hidden],
  });

  const copy = await import(join(target, 'dist/public/driver.js'));
  const theirs = new copy.DriverError('full', 'Full.', { certain: true });
  t.not(copy.DriverError, DriverError);
  t.ok(theirs instanceof DriverError, 'an error of the package is one of the gateway');
  t.notOk(new Error('another') instanceof DriverError);
  const { exports } = JSON.parse(await readFile(join(target, 'package.json'), 'utf8'));
  t.same(Object.keys(exports), ['./driver', './plugin', './testing', './package.json']);
});
