import { runGateway } from '../harness/gateway.ts';
import { freePort } from '../harness/ports.ts';
import { startProcess, type Teardown } from '../harness/processes.ts';
import { openRows } from '../harness/rows.ts';
import { pair, phoneNumber, until } from '../harness/story.ts';
import { alone } from './alone.ts';
import { type Bench, type Found, inColdTurns } from './bench.ts';
import { holdRequests } from './held-requests.ts';
import { needOpenFiles, type Settling, settledMemory } from './process-usage.ts';
import { benchServers } from './servers.ts';

/** Held once before it is measured, so that nothing is done for the first time then. */
const warmUp = 200;
const phone = phoneNumber(1);

/** Long polls held open, and answered together, on MariaDB and RabbitMQ. Each turn is a process of its own. */
export const waits: Bench = {
  name: 'waits',
  about: '5,000 long polls open, one message for all. Floor: a bare route that holds 5,000.',
  async run(run) {
    const count = run.count(5_000);
    needOpenFiles(count + 500);
    const turns = await inColdTurns(
      { ...run, rounds: Math.min(run.rounds, 3) },
      () => alone((t) => measure(t, startHoldingGateway, count)),
      () => alone((t) => measure(t, startFloor, count)),
    );
    const most = { atMost: 1.5 };
    return [
      turns.figure('memory', { name: 'memory per wait', unit: 'KB', goal: most }),
      turns.figure('woken', { name: 'until the last of all is woken', unit: 'ms', goal: most }),
      turns.figure('opened', { name: 'until all are open', unit: 'ms', goal: null }),
    ];
  },
};

/** A process that holds requests. */
interface Holding extends Settling {
  readonly origin: string;
  readonly key: string;
  /** How many it holds. */
  held(): Promise<number>;
  /** Has a message come for all of them. */
  wake(text: string): Promise<unknown>;
}

async function measure(
  t: Teardown,
  start: (t: Teardown) => Promise<Holding>,
  count: number,
): Promise<Found<'memory' | 'woken' | 'opened'>> {
  const holding = await start(t);
  await holdAndWake(holding, warmUp);
  const before = await settledMemory(holding);
  const { opened, woken, after } = await holdAndWake(holding, count);
  return { memory: (after.resident - before.resident) / count / 1_024, woken, opened };
}

async function holdAndWake(holding: Holding, count: number) {
  const { origin, key, held, wake } = holding;
  const text = `To all ${count}`;
  const startedAt = performance.now();
  const path = '/v1/messages/wait?timeout_s=55';
  const requests = await holdRequests(count, { origin, key, path, expected: text });
  try {
    await until('all to be held', async () => ((await held()) === count ? true : undefined));
    const opened = performance.now() - startedAt;
    const after = await settledMemory(holding);
    const wokenAt = performance.now();
    const waking = wake(text);
    const woken = (await requests.answered) - wokenAt;
    await waking;
    return { opened, woken, after };
  } finally {
    requests.close();
  }
}

async function startHoldingGateway(t: Teardown): Promise<Holding> {
  const { databaseUrl, broker } = await benchServers(t, 'mariadb');
  const gateway = await runGateway(t, {
    databaseUrl,
    program: ['test/bench/settling-main.ts', 'serve'],
    settings: { ...broker, GATEWAY_LIMITS__WAITS: '100000' },
  });
  await pair(gateway.api, phone);
  const rows = openRows(t, databaseUrl);
  return {
    origin: new URL(gateway.baseUrl).origin,
    key: gateway.key,
    pid: gateway.pid(),
    output: gateway.output,
    held: async () => {
      const [open] = await rows.rows<{ count: number }>('select sum(slots) as count from waits');
      return Number(open?.count);
    },
    wake: (text) =>
      gateway.api.post(`/sandbox/phones/${phone}/inbound`, {
        from: { phone: phoneNumber(2), name: 'Ada' },
        text,
      }),
  };
}

async function startFloor(t: Teardown): Promise<Holding> {
  const port = String(await freePort());
  const floor = startProcess(t, ['test/bench/floors/waits.ts'], { PORT: port });
  await floor.waitFor(/listening/);
  const origin = `http://127.0.0.1:${port}`;
  return {
    origin,
    key: 'none',
    pid: floor.pid,
    output: () => floor.output,
    held: async () => ((await (await fetch(`${origin}/held`)).json()) as { held: number }).held,
    wake: (text) =>
      fetch(`${origin}/inbound`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ id: '1', account_id: '1', text, created_at: Date.now() }),
      }),
  };
}
