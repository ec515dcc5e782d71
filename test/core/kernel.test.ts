import dns from 'node:dns';
import t from 'tap';
import { Type } from 'typebox';
import { createGatewayContainer, provide, provideSingleton } from '../../core/container.ts';
import { createGateway, type GatewayPlugin, gatewayPlugin } from '../../core/kernel.ts';
import { createLog } from '../../core/log.ts';
import { type AnyOperation, operation } from '../../core/operation.ts';
import { OperationRegistry } from '../../core/operation-registry.ts';

const log = createLog('silent');

function boot(plugins: readonly GatewayPlugin[]) {
  return createGateway({ log, bodyLimit: 1024, prepare: () => undefined, plugins });
}

/** A plugin that writes down what happens to it. */
function witness(name: string, dependencies: readonly string[], diary: string[]): GatewayPlugin {
  return gatewayPlugin(name, dependencies, async (app) => {
    diary.push(`${name} boots`);
    app.addHook('onReady', async () => void diary.push(`${name} is ready`));
    app.addHook('preClose', async () => void diary.push(`${name} prepares to stop`));
    app.addHook('onClose', async () => void diary.push(`${name} stops`));
  });
}

function declare(changes: Partial<AnyOperation> = {}): AnyOperation {
  const made = operation({
    id: 'getThing',
    method: 'GET',
    path: '/things/{thingId}',
    tool: 'get_thing',
    scope: 'read',
    group: 'messages',
    summary: 'A thing.',
    description: 'A thing.',
    hints: { readOnly: true, destructive: false, idempotent: true },
    params: Type.Object({ thingId: Type.String() }),
    query: null,
    body: null,
    answers: { 200: Type.Object({}) },
    errors: [],
    examples: [],
    handler: async () => ({ status: 200 as const, body: {} }),
  });
  return { ...made, ...changes };
}

t.test('plugins boot in the order given and stop in reverse', async (t) => {
  const diary: string[] = [];
  const gateway = await boot([
    witness('storage', [], diary),
    witness('tenants', ['storage'], diary),
    witness('api', ['tenants', 'storage'], diary),
  ]);
  t.same(diary.splice(0), [
    'storage boots',
    'tenants boots',
    'api boots',
    'storage is ready',
    'tenants is ready',
    'api is ready',
  ]);
  const address = await gateway.listen('127.0.0.1', 0);
  t.match(address, /^http:\/\/127\.0\.0\.1:\d+$/);
  await gateway.close();
  t.same(diary, [
    'storage prepares to stop',
    'tenants prepares to stop',
    'api prepares to stop',
    'api stops',
    'tenants stops',
    'storage stops',
  ]);
});

t.test('localhost is one server, whose guards hold for every connection', async (t) => {
  const { app, listen, close } = await boot([]);
  t.teardown(close);
  // A machine on which the name has two addresses.
  const both = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }));
  type Done = (...found: unknown[]) => void;
  const lookup = (host: string, options: unknown, done?: Done) =>
    done === undefined
      ? (options as Done)(null, host.replace('localhost', '127.0.0.1'), 4)
      : done(null, both);
  t.intercept(dns, 'lookup', { value: lookup });
  await listen('localhost', 0);
  t.match(app.addresses(), [{ address: '127.0.0.1' }]);
  t.equal(app.addresses().length, 1);
});

t.test('a missing dependency is named, and what had booted is closed', async (t) => {
  const diary: string[] = [];
  await t.rejects(boot([witness('storage', [], diary), witness('tenants', ['broker'], diary)]), {
    message: /broker.*tenants/s,
  });
  t.same(diary.at(-1), 'storage stops');
});

t.test(
  'a plugin that fails to boot fails the gateway, and what had booted is closed',
  async (t) => {
    const diary: string[] = [];
    const failing = gatewayPlugin('failing', [], async () => {
      throw new Error('no such folder');
    });
    await t.rejects(boot([witness('storage', [], diary), failing]), /no such folder/);
    t.equal(diary.at(-1), 'storage stops');
  },
);

t.test('plugins meet in the container', async (t) => {
  const gateway = await boot([
    gatewayPlugin('one', [], async (app) => {
      t.equal(app.container.cradle.log, log);
      t.equal(app.container.cradle.operations, app.operations);
      t.equal(app.container.cradle.clock.now(), Math.floor(app.container.cradle.clock.now()));
      // A name that no plugin has: nobody may ask for what is not there.
      try {
        Reflect.get(app.container.cradle, 'cook');
        t.fail('it answered');
      } catch (error) {
        t.match((error as Error).message, /cook/);
      }
    }),
  ]);
  await gateway.close();
});

t.test('a name of the container is taken once', async (t) => {
  const container = createGatewayContainer();
  provide(container, 'log', log);
  t.throws(() => provide(container, 'log', log), /already has a "log"/);
  let made = 0;
  provideSingleton(container, 'operations', () => {
    made += 1;
    return new OperationRegistry();
  });
  t.equal(container.cradle.operations, container.cradle.operations);
  t.equal(made, 1);
  t.throws(
    () => provideSingleton(container, 'operations', () => new OperationRegistry()),
    /taken|already/,
  );
});

t.test('a service takes what boots later, and is disposed after all plugins', async (t) => {
  const order: string[] = [];
  const gateway = await boot([
    gatewayPlugin('one', [], async (app) => {
      provideSingleton(
        app.container,
        'firstKeys',
        ({ isAlone }) => ({ live: isAlone ? 'alone' : null, test: null }),
        () => void order.push('disposed'),
      );
      app.addHook('onClose', async () => void order.push('one'));
    }),
    gatewayPlugin('two', ['one'], async (app) => {
      provideSingleton(app.container, 'isAlone', () => true);
      app.addHook('onClose', async () => void order.push('two'));
    }),
  ]);
  t.equal(gateway.cradle.firstKeys.live, 'alone');
  await gateway.close();
  t.same(order, ['two', 'one', 'disposed']);
});

t.test("an error of a plugin's own means one thing", async (t) => {
  const gone = { code: 'thing_gone', status: 410, text: 'It is gone.' };
  const registry = new OperationRegistry();
  registry.add(declare({ errors: ['message_not_found', gone] }));
  const again = { id: 'again', path: '/else', tool: null };
  for (const [error, sentence] of [
    [{ ...gone, status: 404 }, /"again" declares the error "thing_gone", which another/],
    [{ ...gone, code: 'not_found' }, /"not_found", which the gateway has/],
    [{ ...gone, code: 'Gone' }, /"Gone", which must be lower case/],
    [
      { ...gone, code: 'gone', status: 401 },
      /whose status must be one from 400 to 499, and not 401/,
    ],
    [{ ...gone, code: 'gone', status: 500 }, /whose status/],
    [{ ...gone, code: 'gone', text: '' }, /which has no text/],
  ] as const) {
    t.throws(() => registry.add(declare({ ...again, errors: [error] })), { message: sentence });
  }
  registry.add(declare({ ...again, errors: [{ ...gone }] }));
  t.equal(registry.all().length, 2);
});

t.test('a duplicate operation fails the boot and names both', async (t) => {
  for (const [other, sentence] of [
    [{ id: 'other', tool: null }, /"other" declares GET \/things\/\{\}.*"getThing"/],
    [{ id: 'other', tool: null, path: '/things/{id}' }, /"other" declares GET \/things\/\{\}/],
    [{ id: 'other', path: '/else' }, /"other" declares tool get_thing.*"getThing"/],
    [{ path: '/else', tool: null }, /declares id getThing/],
  ] as const) {
    const twice = gatewayPlugin('twice', [], async (app) => {
      app.operations.add(declare(), declare(other));
    });
    await t.rejects(boot([twice]), { message: sentence });
  }
  const registry = new OperationRegistry();
  registry.add(declare(), declare({ id: 'put', method: 'PUT', tool: null }));
  registry.openToOutside();
  registry.add(declare({ id: 'third', path: '/else', tool: null }));
  t.same(
    registry.all().map((operation) => [operation.id, registry.isFromOutside(operation)]),
    [
      ['getThing', false],
      ['put', false],
      ['third', true],
    ],
  );
});
