import t from 'tap';
import type { ConfigError } from '../../config/error.ts';
import { loadPlugins } from '../../config/outside-plugins.ts';
import { createGateway, type GatewayPlugin, gatewayPlugin } from '../../core/kernel.ts';
import { createLog } from '../../core/log.ts';

const log = createLog('silent');
const before = [gatewayPlugin('storage', [], async () => undefined)];
const after = [gatewayPlugin('api', [], async () => undefined)];

/** A plugin as `gatewayPlugin` of another copy marks it, which writes down when it boots. */
function source(name: string, dependencies: readonly string[], boot = ''): string {
  return `async (app) => { (globalThis.booted ??= []).push('${name}'); ${boot} }`.replace(
    /^.*$/s,
    (made) => `Object.assign(${made}, {
      [Symbol.for('skip-override')]: true,
      [Symbol.for('plugin-meta')]: ${JSON.stringify({ name, dependencies })},
    })`,
  );
}

const schema = `{ type: 'object', properties: { greeting: { type: 'string' }, times: { type: 'integer', default: 2 } },
  required: ['greeting'], additionalProperties: false }`;

const packages: Readonly<Record<string, string>> = {
  first: `export default () => ${source('first', ['storage'])}`,
  second: `export default async () => ${source('second', ['first'])}`,
  options: `const make = ({ options, log }) => { globalThis.given = options; log.info({}, 'made'); return ${source('options', [])}; };
    make.optionsSchema = ${schema}; export default make;`,
  throws: `throw new Error('cannot be loaded');`,
  broken: 'const one = 1;\nlet other = ;',
  unnamed: `export const make = () => ${source('unnamed', [])};`,
  refuses: `export default async () => { throw new Error('not today'); }`,
  unmarked: 'export default () => async () => undefined',
  made: `export default ${source('made', [])}`,
  storage: `export default () => ${source('storage', [])}`,
  api: `export default () => ${source('api', [])}`,
  fails: `export default () => ${source('fails', [], "throw new Error('not now');")}`,
  nests: `export default () => ${source('nests', [], 'app.register(() => new Promise(() => undefined));')}`,
  waits: `export default () => ${source('waits', [], "app.addHook('onReady', () => new Promise(() => undefined));")}`,
  calls: `export default () => ${source('calls', [], "app.register(async (inner) => { inner.addHook('onReady', (done) => undefined); });")}`,
  readies: `export default () => ${source(
    'readies',
    [],
    `app.addHook('onReady', (done) => { booted.push('called'); done(); });
    app.register(async (inner) => { inner.addHook('onReady', async () => { booted.push('awaited'); }); });`,
  )}`,
  hangs: `export default () => ${source('hangs', [], 'await new Promise(() => undefined);')}`,
};

const folder = t.testdir({
  'own.js': 'export default 5',
  node_modules: Object.fromEntries(
    Object.entries(packages).map(([name, text]) => {
      const manifest = { name: `plugin-${name}`, type: 'module', exports: './main.js' };
      return [manifest.name, { 'package.json': JSON.stringify(manifest), 'main.js': text }];
    }),
  ),
});

interface Configured {
  readonly package: string;
  readonly options: Record<string, unknown>;
}

const load = (
  plugins: Readonly<Record<string, Configured>>,
  bootMs = 60_000,
): Promise<readonly GatewayPlugin[]> =>
  loadPlugins(plugins, { log, folder, before, after, bootMs });

const boot = async (plugins: readonly GatewayPlugin[]) =>
  createGateway({
    log,
    bodyLimit: 1024,
    prepare: () => undefined,
    plugins: [...before, ...plugins],
  });

const named = (name: string, options: Record<string, unknown> = {}): Configured => ({
  package: name.startsWith('.') ? name : `plugin-${name}`,
  options,
});

t.test('plugins boot in the order of the configuration, after what they depend on', async (t) => {
  const diary = globalThis as { booted?: string[]; given?: unknown };
  const plugins = await load({
    one: named('first'),
    two: named('second'),
    three: named('options', { greeting: 'hi' }),
  });
  t.same(diary.booted ?? [], [], 'made before anything boots');
  t.strictSame(diary.given, { greeting: 'hi', times: 2 });
  const gateway = await boot(plugins);
  t.same(diary.booted, ['first', 'second', 'options']);
  await gateway.close();
});

t.test('one that fails stops the start and is named', async (t) => {
  const failures: [Configured, string, RegExp][] = [
    [named('options'), 'plugins.it.options', /^plugins\.it\.options\.greeting is missing$/],
    [named('options', { greeting: 5 }), 'plugins.it.options', /options\.greeting must be string$/],
    [
      named('options', { greeting: 'a', x: 'secret' }),
      'plugins.it.options',
      /options\.x is no option/,
    ],
    [
      named('absent'),
      'plugins.it.package',
      /^plugins\.it\.package: plugin-absent cannot be loaded/,
    ],
    [
      named('throws'),
      'plugins.it.package',
      /plugin-throws cannot be loaded: cannot be loaded \(\/.+main\.js:1:7\)$/,
    ],
    [named('broken'), 'plugins.it.package', /Unexpected token ';' \(\/.+broken\/main\.js:2\)$/],
    [named('unnamed'), 'plugins.it.package', /must export a plugin factory/],
    [named('./own.js'), 'plugins.it.package', /own\.js must export a plugin factory/],
    [
      named('refuses'),
      'plugins.it',
      /^plugins\.it could not be made: not today \(\/.+main\.js:1:\d+\)$/,
    ],
    [named('unmarked'), 'plugins.it', /is no plugin; make it with gatewayPlugin\(\)$/],
    [named('made'), 'plugins.it.package', /plugin-made must export a plugin factory/],
    [named('storage'), 'plugins.it', /there already is a plugin called "storage"$/],
    [named('api'), 'plugins.it', /there already is a plugin called "api"$/],
    [named('second'), 'plugins.it', /it depends on "first", and before it boot storage$/],
  ];
  for (const [plugin, field, reason] of failures) {
    const error = await load({ it: plugin }).then(
      () => null,
      (thrown: ConfigError) => thrown,
    );
    t.match(error, { name: 'ConfigError', message: reason }, plugin.package);
    t.equal(error?.field, field);
    t.notMatch(error?.message, /secret/);
  }
  await t.rejects(boot(await load({ it: named('fails') })), {
    message: /^plugins\.it could not boot: not now \(\/.+main\.js:1:\d+\)$/,
  });
  await t.rejects(boot(await load({ it: named('hangs') }, 1_000)), {
    name: 'ConfigError',
    message: 'plugins.it did not boot within 1 s',
  });
  await t.rejects(boot(await load({ it: named('nests') }, 1_000)), {
    name: 'ConfigError',
    message: 'plugins.it did not boot within 1 s',
  });
  for (const held of ['waits', 'calls']) {
    await t.rejects(boot(await load({ it: named(held) }, 5_000)), {
      name: 'ConfigError',
      message: 'plugins.it: a hook "onReady" did not end within 5 s',
    });
  }
});

t.test('the hooks of a plugin run once everything has booted', async (t) => {
  const diary = globalThis as { booted?: string[] };
  diary.booted = [];
  const gateway = await boot(await load({ it: named('readies') }));
  t.same(diary.booted, ['readies', 'called', 'awaited']);
  await gateway.close();
});
