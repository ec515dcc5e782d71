import { createConnection, createServer } from 'node:net';
import t, { type Test } from 'tap';
import { createLog } from '../../../core/log.ts';
import { Link, type LinkOptions } from '../../../plugins/broker/link.ts';
import { freePort } from '../../harness/ports.ts';
import { until } from '../../harness/story.ts';
import { serverUrl } from '../../servers/borrow.ts';
import { impatient } from './rabbitmq-world.ts';

const url = await serverUrl('rabbitmq');

/** Opens a link to an address; answers the level and the code of each failure that it logs, as they come. */
function failuresOf(t: Test, address: string, setUp: LinkOptions['setUp']): [number, string][] {
  const failures: [number, string][] = [];
  const write = (line: string) => {
    const { level, err } = JSON.parse(line);
    if (err !== undefined) failures.push([level, err.code]);
  };
  const link = new Link({
    url: address,
    ca: undefined,
    name: 'publisher',
    timing: { ...impatient, connectMs: 30_000, patienceMs: 30_000 },
    log: createLog('debug', { write }),
    setUp,
    onUp: () => undefined,
    onDown: () => undefined,
  });
  t.teardown(() => link.close());
  link.start();
  return failures;
}

async function reach(failures: readonly unknown[], count: number): Promise<void> {
  await until(
    () => `${count} failures: ${JSON.stringify(failures)}`,
    async () => failures.length >= count || undefined,
  );
}

t.test(
  'a RabbitMQ that starts late and refuses the log-in: each reason is a warning',
  async (t) => {
    const port = await freePort();
    const address = new URL(url);
    Object.assign(address, { hostname: '127.0.0.1', port, password: 'rotated' });
    const failures = failuresOf(t, address.href, async () => undefined);
    await reach(failures, 2);
    const relay = createServer((client) => {
      const upstream = createConnection(Number(new URL(url).port), new URL(url).hostname);
      for (const socket of [client, upstream]) socket.on('error', () => undefined);
      client.pipe(upstream).pipe(client);
    });
    t.teardown(() => relay.close());
    relay.listen(port, '127.0.0.1');
    const refused = () => failures.filter(([, code]) => code === 'ACCESS_REFUSED');
    await until('two refusals', async () => refused().length >= 2 || undefined);
    const away = failures.filter(([, code]) => code === 'ECONNREFUSED').map(([level]) => level);
    t.same(away.slice(0, 2), [40, 20], 'nobody there');
    t.same(refused().slice(0, 2), [
      [40, 'ACCESS_REFUSED'],
      [20, 'ACCESS_REFUSED'],
    ]);
  },
);

t.test('a set-up that RabbitMQ refuses in another sentence is a warning again', async (t) => {
  const queues = ['missing one', 'missing one', 'missing two', 'missing two'];
  const failures = failuresOf(t, url, async (session) => {
    const channel = await session.openChannel(() => undefined);
    await channel.queueDeclare({ queue: queues.shift() ?? 'missing two', passive: true });
  });
  await reach(failures, 4);
  t.same(
    failures.slice(0, 4),
    [40, 20, 40, 20].map((level) => [level, 'NOT_FOUND']),
  );
});

t.test('a host of IPv6 is connected to as an address, not looked up as a name', async (t) => {
  const address = `amqp://guest:guest@[::1]:${await freePort()}`;
  const failures = failuresOf(t, address, async () => undefined);
  await reach(failures, 1);
  t.not(failures[0]?.[1], 'ENOTFOUND');
});
