import { execFile } from 'node:child_process';
import { cp, readdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { DriverError } from '../../core/contracts/driver.ts';
import { GatewayError } from '../../core/errors.ts';
import { guideBlocks, guideFiles } from '../harness/guide.ts';
import { outsidePackage, tarball } from '../harness/packed.ts';
import { freePort } from '../harness/ports.ts';

const run = promisify(execFile);
const project = join(import.meta.dirname, '../..');

/** A driver as somebody outside writes it, and everything of the types that it relies on. */
const driverSource = `
import {
  type AnswerOutcome, DriverError, type Driver, type DriverFactory, type LinkStep, type Session,
} from 'messaging-gateway/driver';

class MailSession implements Session {
  async link(): Promise<void> {}
  async answer(): Promise<AnswerOutcome> { return { accepted: false, detail: 'It is wrong.' }; }
  async resume(): Promise<void> {}
  async send(): Promise<never> {
    throw new DriverError('mailbox_full', 'The mailbox is full.', { certain: true });
  }
  async logOut(): Promise<'unlinked' | 'still_linked'> { return 'unlinked'; }
  close(): void {}
}
const makeMailDriver: DriverFactory = () => {
  const driver: Driver = {
    capabilities: {
      deduplicates: false, receipts: 'none', recipients: 'contacts',
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

/** The same of a plugin. */
const pluginSource = `
import {
  Closed, type Cradle, type ErrorDeclaration, GatewayError, gatewayPlugin, operation, type PluginFactory, pluginFactory,
  QueuedMessage, sendErrors, type SendAnswer, sendTarget, type Static, Type,
} from 'messaging-gateway/plugin';

const closed = { code: 'shop_closed', status: 409, text: 'The shop is closed.' } satisfies ErrorDeclaration;
const Options = Closed({ greeting: Type.String({ default: 'Hello' }) });

export default pluginFactory(Options, ({ options, log }) => gatewayPlugin('greetings', ['messages'], async (app) => {
  const greeting: string = options.greeting;
  // @ts-expect-error no such option
  log.info({}, options.other);
  const { messages, contacts, accounts, stopping } = app.container.cradle;
  app.operations.add(operation({
    id: 'greet', method: 'POST', path: '/greetings', tool: null, scope: 'send', summary: 'Greet',
    group: { name: 'Greetings', description: 'Greets.' },
    description: 'Greets.', hints: { readOnly: false, destructive: false, idempotent: true },
    params: null, query: null, body: Closed(sendTarget), answers: { 202: QueuedMessage },
    errors: [...sendErrors, closed], examples: [],
    handler: async ({ caller, body }) => {
      if (stopping.aborted) throw new GatewayError(closed);
      if (caller.status === 'suspended') throw new GatewayError('account_suspended');
      const answer: SendAnswer = await messages.send(caller, { ...body, text: greeting });
      const contact: string | undefined = (await contacts.find(caller, answer.contact_id))?.name;
      const [account] = await accounts.list(caller);
      log.info({ contact, channel: account?.channel }, 'greeted');
      // @ts-expect-error a send has a text
      await messages.send(caller, body);
      // @ts-expect-error what is the gateway's own is not promised
      messages.forgetContact;
      return { status: 202, body: answer };
    },
  }));
}));
export const plain: PluginFactory = ({ options }) => gatewayPlugin(String(options.name), [], async () => undefined);
export const options: Static<typeof Options> = { greeting: 'Hi' };
// @ts-expect-error a factory makes a plugin
export const nothing: PluginFactory = () => undefined;
// @ts-expect-error neither in the table nor declared
new GatewayError('shop_closed');
// @ts-expect-error a declaration has a text
export const silent: ErrorDeclaration = { code: 'silent', status: 409 };
// @ts-expect-error the gateway's configuration is its own
export type Config = Cradle['config'];
`;

/** The suite as the tests of a driver package run it. */
const contractSource = `
import { driverContract, simulatedContract, startSimulatedNetwork } from 'messaging-gateway/testing';
import t from 'tap';

const network = await startSimulatedNetwork();
t.teardown(() => network.stop());
const contract = await simulatedContract(t, network, 'chatapp');
await driverContract(t, { ...contract, patienceMs: 15_000 });
`;

/** An experiment with one driver, and one with the simulated network; it prints what came of them. */
const experimentSource = `
import type { DriverFactory } from 'messaging-gateway/driver';
import { DriverError } from 'messaging-gateway/driver';
import { runDriver, startSimulatedNetwork, type HarnessAccount, type LinkWord, type SimulatedPhone } from 'messaging-gateway/testing';
import makeMailDriver from './mail.ts';

const network = await startSimulatedNetwork({ port: ${await freePort()}, qrLifetimesMs: [60_000] });
const web = await runDriver(network.driver('msgapp_web'));
const ada: HarnessAccount = web.open('+12025550111');
const phone: SimulatedPhone = network.phone({ phone: '+12025550111', channel: 'msgapp_web' });
const shown: LinkWord = await ada.link();
await phone.scan();
await ada.state('connected');
await ada.send('+12025550199', 'Hello!', { reference: 'msg_1' });
const read = await ada.receipt('read');
await phone.write({ from: '+12025550199', name: 'Ben', text: 'Hello back!' });
const message = await ada.message();
await phone.set({ send: 'fail', fail_reason: 'full: the mailbox is full' });
const failed = await ada.send('+12025550199', 'again').catch((error) => error);
await phone.set({ send: 'hang' });
const hung = await ada.send('+12025550199', 'hung', { timeoutMs: 200 }).catch((error) => error);
const late = await ada.message(100).catch(({ message }: Error) => message);
await network.kill();
const lost = await ada.state('lost');
await network.restart();
const back = await ada.restart();
await network.setReachable(false);
await ada.state('lost');
const away = await ada.resume();
await network.setReachable(true);

const chat = await runDriver(network.driver('chatapp'), { channel: 'another_name' });
const ben = chat.open('+12025550112', { tenantId: 'ten_other' });
const other = network.phone({ phone: '+12025550112', channel: 'chatapp', network: 'ten_other' });
await other.set({ password: 'secret' });
const asked = await ben.link({ method: 'code' });
const answers = [
  await ben.answer('code', 'wrong'),
  await ben.answer('code', await other.loginCode()),
  await ben.answer('password', 'secret'),
];
await ben.state('connected');
await other.befall('log_out');
const out = await ben.state('logged_out');

const schema = { type: 'object', properties: { size: { type: 'integer', default: 3 } } };
const logged: DriverFactory = (context) => {
  context.log.info({ size: context.options['size'] }, 'made');
  return makeMailDriver(context);
};
const sized: DriverFactory = Object.assign(logged, { optionsSchema: schema });
const mail = await runDriver(sized);
const mailbox = mail.open('ada@example.com');
const refused = await mailbox.send('ben@example.com', 'Hi').catch((error) => error);
const wrong = await runDriver(sized, { options: { size: 'big' } }).catch(({ message }) => message);
// @ts-expect-error what is no driver is refused, also where types do not hold
const none = await runDriver(() => ({}), {}).catch(({ message }) => message);
const networks = await network.networks();
for (const harness of [web, chat, mail]) await harness.close();
await network.stop();
const gone = await phone.view().catch(({ message }) => message);

console.log(JSON.stringify({
  shown: shown.type, read: [read.reference, read.status], message: [message.from, message.text],
  failed: [failed instanceof DriverError, failed.code, failed.certain], hung: hung.certain, late,
  lost: lost.state, back, away, asked, answers, out, log: mail.log, refused: refused.code,
  wrong, none, networks, gone,
}));

export const neverCalled = () => [
  // @ts-expect-error a harness is made by runDriver alone
  import('messaging-gateway/testing').then(({ DriverHarness }) => DriverHarness),
  // @ts-expect-error a driver names the channel that it plays
  network.driver(),
  // @ts-expect-error an event of another world
  phone.befall('explode'),
  // @ts-expect-error a receipt has one of four statuses
  ada.receipt('seen'),
  // @ts-expect-error who writes is named
  phone.write({ text: 'Hi' }),
];
`;

/** Runs a program of the outside package as anybody does: by node alone, and tap's usual 30 s do not end it. */
async function runOutside(cwd: string, program: string) {
  const { PATH, HOME } = process.env;
  return await run(process.execPath, [program], {
    cwd,
    env: { PATH, HOME, TAP_TIMEOUT: '60' },
    timeout: 60_000,
  });
}

t.test('the packed project, as a driver or plugin from outside finds it', async (t) => {
  const files = {
    'mail.ts': driverSource,
    'plugin.ts': pluginSource,
    'contract.ts': contractSource,
    'experiment.ts': experimentSource,
  };
  const { folder, gateway: target, compile } = await outsidePackage(t.testdir(), files);
  const notices = 'THIRD_PARTY_NOTICES.md';
  const packed = ['LICENSE', 'README.md', notices, 'config', 'dist', 'docs', 'package.json'];
  t.same((await readdir(target)).sort(), packed);
  // What npm runs in it once it is installed.
  await run(process.execPath, ['config/platform-packages.mjs'], { cwd: target });
  t.equal(await compile(), '', 'the types are what the sources expect');

  const program = `
    const { default: make } = await import('./built/mail.js');
    const plugin = await import('./built/plugin.js');
    const error = await make().open().send().catch((error) => error);
    const reach = (path) => import('messaging-gateway' + path).then(() => 'reached', ({ code }) => code);
    const paths = ['', '/core/kernel', '/dist/core/kernel.js', '/dist/public/driver.js'];
    const codes = await Promise.all(paths.map(reach));
    const schema = plugin.default.optionsSchema.properties;
    console.log(JSON.stringify({ code: error.code, schema, codes }));
  `;
  const args = ['--input-type=module', '--eval', program];
  const { stdout } = await run(process.execPath, args, { cwd: folder });
  const hidden = 'ERR_PACKAGE_PATH_NOT_EXPORTED';
  t.strictSame(JSON.parse(stdout), {
    code: 'mailbox_full',
    schema: { greeting: { type: 'string', default: 'Hello' } },
    codes: [hidden, hidden, hidden, hidden],
  });

  await t.test('the contract suite, run from there on the simulated driver', async (t) => {
    const { stdout } = await runOutside(folder, 'built/contract.js');
    const passed = stdout.match(/^ *ok \d+/gm) ?? [];
    t.ok(passed.length > 100, `${passed.length} checks and tests passed`);
    t.notMatch(stdout, /^ *not ok/m);
    t.match(stdout, /^ok \d+ - simulated chatapp: closing/m);
    t.match(stdout, /^1\.\.11$/m, 'all parts of the contract, and the log');
  });

  await t.test('the harness and the simulated network, which need no tap', async (t) => {
    const { stdout, stderr } = await runOutside(folder, 'built/experiment.js');
    t.equal(stderr, '');
    const lost = { type: 'state', state: 'lost' };
    t.match(JSON.parse(stdout), {
      shown: 'show_qr',
      read: ['msg_1', 'read'],
      message: [{ phone: '+12025550199', name: 'Ben' }, 'Hello back!'],
      failed: [true, 'full', true],
      hung: false,
      late: /^no message came; events: show_qr, connected, receipt/,
      lost: 'lost',
      back: { type: 'state', state: 'connected' },
      away: lost,
      asked: { type: 'ask', field: 'code' },
      answers: [
        { accepted: false, detail: 'The code is not the right one.' },
        { accepted: true },
        { accepted: true },
      ],
      out: { reason: 'logged_out' },
      log: ['made {"size":3}'],
      refused: 'mailbox_full',
      wrong: 'options.size must be integer',
      none: /^what the factory made is no driver: open/,
      networks: ['ten_harness', 'ten_other'],
      gone: String,
    });
    const compiled = await readdir(join(target, 'dist/testing'), { recursive: true });
    const programs = compiled.filter((name) => name.endsWith('.js'));
    t.ok(programs.length > 10);
    for (const name of programs) {
      const text = await readFile(join(target, 'dist/testing', name), 'utf8');
      t.notMatch(text, /['"]tap['"]/, `${name} runs without tap`);
    }
  });

  const copy = await import(join(target, 'dist/public/driver.js'));
  const theirs = new copy.DriverError('full', 'Full.', { certain: true });
  t.not(copy.DriverError, DriverError);
  t.ok(theirs instanceof DriverError, 'an error of the package is one of the gateway');
  t.notOk(new Error('another') instanceof DriverError);
  const plugins = await import(join(target, 'dist/public/plugin.js'));
  const refusal = new plugins.GatewayError('not_found');
  t.not(plugins.GatewayError, GatewayError);
  t.ok(refusal instanceof GatewayError, 'a refusal of the package is one of the gateway');
  t.notOk(new Error('another') instanceof GatewayError);
  const { exports } = JSON.parse(await readFile(join(target, 'package.json'), 'utf8'));
  t.same(Object.keys(exports), ['./client', './driver', './plugin', './testing', './package.json']);
});

t.test('who installs the packed project gets no library that needs a newer Node.js', async (t) => {
  const guides = ['plugins', 'drivers', 'broadcasts', 'xmpp'].map((name) => `docs/${name}.md`);
  const [manifest, ...others] = await Promise.all(guides.map(manifestOf));
  for (const other of others) t.match(other, peersOf(manifest), 'every guide names the peer so');
  const folder = t.testdir({ 'package.json': JSON.stringify(manifest) });
  // npm names this project to its scripts in variables, and tap's loader is for its own Node.js.
  const foreign = /^(npm_|NODE_OPTIONS$)/i;
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !foreign.test(name)),
  );
  // The versions are chosen and their engines checked as in an install; nothing is fetched but what is known of them.
  const options = ['--package-lock-only', '--engine-strict', '--prefer-offline', '--no-audit'];
  await run('npm', ['install', ...options, '--offline'], { cwd: folder, env });
  const commands = await Promise.all(guides.slice(0, 2).map(installOf));
  const [command = [], driverCommand] = commands;
  t.same(driverCommand, command, 'the guides install the gateway in one way');
  await run('npm', [...command, ...options, await tarball()], { cwd: folder, env });
  const written = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  t.same(peersOf(written), peersOf(manifest), "an author's peer keeps its range");
  t.match(written.devDependencies, { 'messaging-gateway': /^file:/ });
  const chosen = await versionsIn(folder);
  const tested = await versionsIn(project);
  t.ok(chosen.size > 200, `${chosen.size} libraries`);
  const { dependencies } = JSON.parse(await readFile(join(project, 'package.json'), 'utf8'));
  for (const name of Object.keys(dependencies)) t.equal(chosen.get(name), tested.get(name), name);
});

interface Manifest {
  readonly peerDependencies?: object;
  readonly peerDependenciesMeta?: object;
}

/** The `package.json` of a guide. */
async function manifestOf(guide: string): Promise<Manifest> {
  return JSON.parse(guideFiles(await guideBlocks(guide))['package.json'] ?? '');
}

/** What a package says of its peers. */
function peersOf({ peerDependencies, peerDependenciesMeta }: Manifest = {}) {
  return { peerDependencies, peerDependenciesMeta };
}

/** The words by which a guide has the author install the gateway's tarball, less the tarball. */
async function installOf(guide: string): Promise<readonly string[]> {
  const text = await readFile(join(project, guide), 'utf8');
  const [, words] =
    /`npm (install[^`]*) \.\.\/gateway\/messaging-gateway-[\d.]+tgz`/.exec(text) ?? [];
  return words?.split(' ') ?? [];
}

/** The versions of the libraries directly in `node_modules`, by name, as the lock file of a folder has them. */
async function versionsIn(folder: string): Promise<ReadonlyMap<string, string>> {
  const { packages }: { packages: Record<string, { version: string }> } = JSON.parse(
    await readFile(join(folder, 'package-lock.json'), 'utf8'),
  );
  const within = 'node_modules/';
  return new Map(
    Object.entries(packages)
      .filter(([path]) => path.lastIndexOf(within) === 0)
      .map(([path, { version }]) => [path.slice(within.length), version]),
  );
}

t.test('libraries that npm has put into the folder of the package are found there', async (t) => {
  const target = join(t.testdir({}), 'node_modules/messaging-gateway');
  const script = 'config/platform-packages.mjs';
  for (const file of [script, 'config/node-version.mjs', 'package.json']) {
    await cp(join(project, file), join(target, file));
  }
  const installed = join(project, 'node_modules');
  for (const name of ['esbuild/package.json', 'esbuild/lib', 'libsql']) {
    await cp(join(installed, name), join(target, 'node_modules', name), { recursive: true });
  }
  for (const scope of ['@esbuild', '@libsql']) {
    await symlink(join(installed, scope), join(target, 'node_modules', scope));
  }
  const { stdout, stderr } = await run(process.execPath, [script], { cwd: target });
  t.equal(stdout + stderr, '', 'and npm is not asked for what is there');
});
