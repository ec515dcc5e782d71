import type { TestDatabase } from '../harness/databases.ts';
import { freePort } from '../harness/ports.ts';
import { startProcess } from '../harness/processes.ts';
import { type Bench, type BenchRun, type Figure, type Found, inTurns } from './bench.ts';
import { type BrokerCount, countAtBroker } from './broker-count.ts';
import { runLoad } from './load.ts';
import { startMeasured } from './measured-gateway.ts';
import { computedMs, serversMs } from './process-usage.ts';
import { contactPhone, seedCrowd } from './seed.ts';

const accounts = 16;
const contacts = 1_000;

/** `POST /messages` answered 202, on MariaDB and RabbitMQ. */
export const accept: Bench = {
  name: 'accept',
  about:
    'POST /messages to its 202, all told to the broker. Floor: a bare route, an INSERT and a confirmed publish each.',
  async run(run) {
    const sides = await startSides(run, 'mariadb');
    const many = await inTurns(run, ...sides.measure(64, run.count(6_000)));
    const one = await inTurns(run, ...sides.measure(1, run.count(800)));
    return [
      ...figures(many, '64 clients', { atLeast: 1.35 }, { atMost: 0.85 }),
      ...serverFigures(many, '64 clients'),
      ...figures(one, '1 client', { atLeast: 0.45 }, null),
      ...serverFigures(one, '1 client'),
    ];
  },
};

/** The same on the embedded database, without a broker between processes. */
export const acceptEmbedded: Bench = {
  name: 'accept-embedded',
  about: 'POST /messages on SQLite. Floor: a bare route and an INSERT with synchronous=FULL each.',
  async run(run) {
    const sides = await startSides(run, 'sqlite');
    const many = await inTurns(run, ...sides.measure(64, run.count(6_000)));
    return figures(many, '64 clients', { atLeast: 1.4 }, null);
  },
};

type Measured = Found<'rate' | 'p50' | 'p99' | 'busy' | 'database' | 'broker'>;

type MeasuredTurns = Awaited<ReturnType<typeof inTurns<keyof Measured>>>;

function figures(
  turns: MeasuredTurns,
  clients: string,
  rate: Figure['goal'],
  p99: Figure['goal'],
): readonly Figure[] {
  return [
    turns.figure('rate', { name: `accepted a second, ${clients}`, unit: '/s', goal: rate }),
    turns.figure('p50', { name: `median time, ${clients}`, unit: 'ms', goal: null }),
    turns.figure('p99', { name: `99th percentile, ${clients}`, unit: 'ms', goal: p99 }),
    turns.figure('busy', { name: `processor time each, ${clients}`, unit: 'ms', goal: null }),
  ];
}

function serverFigures(turns: MeasuredTurns, clients: string): readonly Figure[] {
  const told = { unit: 'ms', goal: null };
  return (['database', 'broker'] as const).map((server) =>
    turns.figure(server, { name: `processor time of the ${server} each, ${clients}`, ...told }),
  );
}

interface Side {
  readonly origin: string;
  readonly key: string;
  readonly pid: () => number;
  readonly broker: BrokerCount | null;
}

async function startSides(run: BenchRun, engine: TestDatabase['name']) {
  const { gateway, databaseUrl, amqpUrl, write, tenantId } = await startMeasured(run, engine);
  const crowd = await seedCrowd(write, tenantId, { accounts, contacts });
  const port = await freePort();
  const broker: Record<string, string> = amqpUrl === null ? {} : { AMQP_URL: amqpUrl };
  const floorEnv = { DATABASE_URL: databaseUrl, PORT: String(port), ...broker };
  const floor = startProcess(run, ['test/bench/floors/accept.ts'], floorEnv);
  await floor.waitFor(/listening/);
  const counted = async (exchange: string) =>
    amqpUrl === null ? null : countAtBroker(run, { url: amqpUrl, exchange, keys: crowd.accounts });
  const sides: readonly [Side, Side] = [
    {
      origin: new URL(gateway.baseUrl).origin,
      key: gateway.key,
      pid: gateway.pid,
      broker: await counted('gateway.hosts'),
    },
    {
      origin: `http://127.0.0.1:${port}`,
      key: '',
      pid: () => floor.pid,
      broker: await counted('floor'),
    },
  ];
  let sent = 0;
  const turn = async (side: Side, clients: number, requests: number): Promise<Measured> => {
    const headers = { 'content-type': 'application/json', 'x-api-key': side.key };
    const busyBefore = computedMs(side.pid());
    const before = serversMs();
    const startedAt = performance.now();
    const load = await runLoad({
      origin: side.origin,
      clients,
      requests,
      status: 202,
      request() {
        sent += 1;
        const account_id = crowd.accounts[sent % accounts];
        const to = { phone: contactPhone((sent * 7) % contacts) };
        const text = `Your order ${sent} is on its way.`;
        return { path: '/v1/messages', headers, body: JSON.stringify({ account_id, to, text }) };
      },
    });
    const toldAt = (await side.broker?.reached(requests)) ?? 0;
    // The floor's broker knows of a message before its client does.
    const endedAt = Math.max(startedAt + load.tookMs, toldAt);
    const rate = (requests / (endedAt - startedAt)) * 1000;
    const after = serversMs();
    return {
      ...{ rate, p50: load.p50, p99: load.p99 },
      busy: (computedMs(side.pid()) - busyBefore) / requests,
      database: (after.database - before.database) / requests,
      broker: (after.broker - before.broker) / requests,
    };
  };
  return {
    measure: (clients: number, requests: number) =>
      [() => turn(sides[0], clients, requests), () => turn(sides[1], clients, requests)] as const,
  };
}
