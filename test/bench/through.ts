import { freePort } from '../harness/ports.ts';
import { startProcess } from '../harness/processes.ts';
import { pair, phoneNumber } from '../harness/story.ts';
import { type Arrival, checkArrived, keyOf, type Receivers, startReceivers } from './arrivals.ts';
import { type Bench, type BenchRun, type Figure, Turns, turnsOfRound } from './bench.ts';
import { clockNow } from './clock.ts';
import { type Load, runLoad, runPaced } from './load.ts';
import { startMeasured } from './measured-gateway.ts';
import { computedMs, serversMs } from './process-usage.ts';
import { contactPhone, seedContacts } from './seed.ts';
import { median, percentile } from './statistics.ts';

const accounts = 16;
const contacts = 1_000;
const clients = 64;
const events = ['message.sent', 'message.delivered', 'message.read'];

/** `POST /messages` to `message.read` at a receiver of webhooks, on MariaDB and RabbitMQ. */
export const through: Bench = {
  name: 'through',
  about:
    'POST /messages until sent, delivered and read are at a webhook receiver. Floor: the same hops, a row each, by hand.',
  async run(run) {
    const sides = await startSides(run);
    const count = run.count(800);
    const full = new Turns(
      run,
      () => sides.gateway.full(count),
      () => sides.floor.full(count),
    );
    const half = new Turns(
      run,
      () => sides.gateway.half(run),
      () => sides.floor.half(run),
    );
    await full.warmUp();
    await half.warmUp();
    // Round by round: a minute later the machine may be half as fast, and half the load be all that it can do.
    for (let round = 0; round < run.rounds; round += 1) {
      await full.round(turnsOfRound);
      await half.round(turnsOfRound);
    }
    return [
      full.figure('rate', {
        name: 'messages a second to read, 64 clients',
        unit: '/s',
        goal: { atLeast: 1.25 },
      }),
      half.figure('p50', {
        name: 'median delay from 202 to read, half load',
        unit: 'ms',
        goal: { atMost: 2.4 },
      }),
      half.figure('p99', { name: '99th percentile of it', unit: 'ms', goal: null }),
      ...costs(full, '64 clients'),
      ...costs(half, 'half load'),
    ];
  },
};

/** What a message takes of the processor, from its request to its last event. */
function costs(turns: Pick<Turns<'busy' | 'database'>, 'figure'>, load: string): readonly Figure[] {
  const told = { unit: 'ms', goal: null };
  return [
    turns.figure('busy', { name: `processor time each, ${load}`, ...told }),
    turns.figure('database', { name: `processor time of the database each, ${load}`, ...told }),
  ];
}

async function startSides(run: BenchRun) {
  const receivers = await startReceivers(run, 2);
  const [ofGateway = '', ofFloor = ''] = receivers.urls;
  const { gateway, databaseUrl, amqpUrl, write, tenantId, settled } = await startMeasured(
    run,
    'mariadb',
  );
  const { api } = gateway;
  const lines = await Promise.all(
    Array.from({ length: accounts }, (_, n) => pair(api, phoneNumber(n))),
  );
  await seedContacts(write, tenantId, lines, contacts);
  const made = await api.post('/webhooks', {
    url: ofGateway,
    subscribed_to: events,
    generate_signing_secret: true,
  });
  if (made.status !== 201) throw new Error(`subscribe: ${JSON.stringify(made.body)}`);

  const network = startProcess(run, ['test/bench/floors/network.ts']);
  const [, networkPort = ''] = await network.waitFor(/listening (\d+)/);
  const port = await freePort();
  const floor = startProcess(run, ['test/bench/floors/through.ts'], {
    DATABASE_URL: databaseUrl,
    AMQP_URL: amqpUrl ?? '',
    PORT: String(port),
    NETWORK_PORT: networkPort,
    RECEIVER_URL: ofFloor,
  });
  await floor.waitFor(/listening/);
  const shared = { lines, receivers, settled };
  const origin = `http://127.0.0.1:${port}`;
  return {
    gateway: makeSide({
      ...shared,
      origin: new URL(gateway.baseUrl).origin,
      key: gateway.key,
      pid: gateway.pid,
      receiver: 0,
    }),
    floor: makeSide({ ...shared, origin, key: '', pid: () => floor.pid, receiver: 1 }),
  };
}

interface SideParts {
  readonly origin: string;
  readonly key: string;
  readonly pid: () => number;
  /** The receiver that hears of this side. */
  readonly receiver: number;
  readonly lines: readonly string[];
  readonly receivers: Receivers;
  /** Resolves once nothing of the turn is left to be written down. */
  settled(): Promise<void>;
}

function makeSide({ origin, key, pid, receiver, lines, receivers, settled }: SideParts) {
  const headers = { 'content-type': 'application/json', 'x-api-key': key };
  let sent = 0;
  /** Has `send` make so many requests, and waits for all that they lead to. */
  const turn = async (requests: number, send: (load: Load) => Promise<unknown>) => {
    const acceptedAt = new Map<string, number>();
    const before = { busy: computedMs(pid()), ...serversMs() };
    const startedAt = clockNow();
    await send({
      origin,
      clients,
      requests,
      status: 202,
      request() {
        sent += 1;
        const account_id = lines[sent % accounts];
        const to = { phone: contactPhone((sent * 7) % contacts) };
        const text = `Your order ${sent} is on its way.`;
        return { path: '/v1/messages', headers, body: JSON.stringify({ account_id, to, text }) };
      },
      onAnswer(body) {
        acceptedAt.set((JSON.parse(body) as { id: string }).id, clockNow());
      },
    });
    const arrivals = await receivers.arrived(requests * events.length);
    const wanted = [...acceptedAt.keys()].flatMap((messageId) =>
      events.map((event) => keyOf({ receiver, event, messageId })),
    );
    checkArrived(arrivals, wanted);
    checkOrder(arrivals);
    await settled();
    const busy = (computedMs(pid()) - before.busy) / requests;
    const database = (serversMs().database - before.database) / requests;
    return { startedAt, acceptedAt, arrivals, costs: { busy, database } };
  };
  const rates: number[] = [];
  return {
    /** As fast as it goes. */
    async full(requests: number) {
      const { startedAt, arrivals, costs } = await turn(requests, runLoad);
      const endedAt = arrivals.at(-1)?.at ?? Number.NaN;
      const rate = (requests / (endedAt - startedAt)) * 1000;
      rates.push(rate);
      return { rate, ...costs };
    },
    /**
     * Two seconds and a half at an even pace, half of what its last round of full turns has shown; the delays are from the
     * 202 at the client to the last event at the receiver.
     */
    async half({ count }: Pick<BenchRun, 'count'>) {
      const perSecond = median(rates.slice(-turnsOfRound)) / 2;
      const requests = count(2.5 * perSecond);
      const send = (load: Load) => runPaced(load, perSecond);
      const { acceptedAt, arrivals, costs } = await turn(requests, send);
      const delays = arrivals
        .filter(({ event }) => event === events.at(-1))
        .map(({ messageId, at }) => at - (acceptedAt.get(messageId) ?? Number.NaN));
      return { p50: median(delays), p99: percentile(delays, 0.99), ...costs };
    },
  };
}

/** @throws Error when the events of a message did not come in the order in which they happened */
function checkOrder(arrivals: readonly Arrival[]): void {
  const next = new Map<string, number>();
  for (const { messageId, event } of arrivals) {
    const place = next.get(messageId) ?? 0;
    if (events[place] !== event) throw new Error(`${messageId}: ${event} is out of order`);
    next.set(messageId, place + 1);
  }
}
