import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { DriverError } from '../../core/contracts/driver.ts';
import { outsidePackage } from '../harness/packed.ts';

const run = promisify(execFile);

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

t.test('the packed project, as a driver or plugin from outside finds it', async (t) => {
  const files = { 'mail.ts': driverSource, 'plugin.ts': pluginSource };
  const { folder, gateway: target, compile } = await outsidePackage(t.testdir(), files);
  t.same((await readdir(target)).sort(), ['LICENSE', 'README.md', 'dist', 'package.json']);
  t.equal(await compile(), '', 'the types are what the sources expect');

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
  const { stdout } = await run(process.execPath, args, { cwd: folder });
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
