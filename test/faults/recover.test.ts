import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { storyDatabases, type TestDatabase } from '../harness/databases.ts';
import { runGateway } from '../harness/gateway.ts';
import { payloadOf, type Received, startReceiver } from '../harness/receiver.ts';
import { scale, scaled } from '../harness/scale.ts';
import { bodyOf, pair, phoneNumber, until } from '../harness/story.ts';

/** Deliveries that fail, and deliveries that are live beside the recovery. */
const failing = scale >= 1 ? 100_000 : 300;
const live = scaled(400, 20);
const writersAtOnce = 16;
const phone = phoneNumber(1);

interface Job {
  readonly status: 'running' | 'done';
  readonly total: number;
  readonly recovered: number;
}

async function recoverBesideLive(t: Test, engine: TestDatabase): Promise<void> {
  const database = await engine.create(t);
  const gateway = await runGateway(t, { databaseUrl: database.url });
  const { api } = gateway;
  let isBroken = true;
  const failed = new Map<string, string>();
  const recoveredIds = new Set<string>();
  const killed = new AbortController();
  const receiver = await startReceiver(t, (one) => {
    if (isBroken) return 500;
    if (failed.has(idOf(one))) recoveredIds.add(idOf(one));
    // However slow the test is, the recovery is not over before the kill.
    if (recoveredIds.size <= failing / 2 || killed.signal.aborted) return 204;
    return async (response) => {
      await once(killed.signal, 'abort');
      response.writeHead(204).end();
    };
  });
  const hook = { url: receiver.url('/hook'), subscribed_to: ['message.received'], name: 'hook' };
  await api.post('/webhooks', { ...hook, retries_enabled: false });
  await pair(api, phone);
  const write = async (text: string, n: number) => {
    const from = { phone: phoneNumber(1_000 + (n % 500)), name: 'Ada' };
    const answer = await api.post(`/sandbox/phones/${phone}/inbound`, { from, text });
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  };
  const since = new Date(Date.now() - 60_000).toISOString();
  let next = 0;
  const writer = async () => {
    while (next < failing) await write(`failing ${next}`, next++);
  };
  await Promise.all(Array.from({ length: writersAtOnce }, writer));
  const health = () => api.get('/webhooks/hook/health');
  await until(
    'every delivery to fail',
    async () => {
      const { body } = await health();
      const { total_failures } = (body as { health: { total_failures: number } }).health;
      return total_failures === failing ? true : undefined;
    },
    600_000,
  );
  for (const one of receiver.received) failed.set(idOf(one), textOf(one));
  t.equal(failed.size, failing);
  isBroken = false;

  const liveDelay = async (name: string) => {
    const from = receiver.received.length;
    for (let n = 0; n < live; n += 1) {
      await write(`${name} ${n}`, n);
      await sleep(20);
    }
    const arrived = () =>
      receiver.received.slice(from).filter((one) => textOf(one).startsWith(name));
    await until(`the ${name} deliveries`, async () =>
      arrived().length >= live ? true : undefined,
    );
    const delays = arrived().map((one) => one.at - Date.parse(payloadOf(one).created_at));
    // The mean of the middle half: a median of whole milliseconds would step by a third at 3 ms.
    const quarter = Math.floor(delays.length / 4);
    const middle = delays.sort((one, other) => one - other).slice(quarter, delays.length - quarter);
    return middle.reduce((sum, one) => sum + one, 0) / middle.length;
  };
  const alone = await liveDelay('alone');
  const begun = receiver.received.length;
  const started = await api.post('/webhooks/hook/recover', { since, status: 'failed' });
  t.match(started, { status: 202, body: { job: { total: failing, status: 'running' } } });
  const again = await api.post('/webhooks/hook/recover', { since, status: 'failed' });
  t.match(again, { status: 409, body: { error_code: 'recovery_running' } });
  const beside = await liveDelay('beside');
  const ratio = beside / Math.max(1, alone);
  t.comment(
    `live delay ${alone.toFixed(1)} ms alone, ${beside.toFixed(1)} ms beside: ${ratio.toFixed(2)}`,
  );
  if (scale >= 1) t.ok(ratio <= 1.2, 'live deliveries take hardly longer');

  const job = async () => {
    const answer = await api.get('/webhooks/hook/recover');
    return bodyOf<{ job: Job }>(answer).job;
  };
  await until(
    'the middle',
    async () => {
      const { recovered } = await job();
      return recovered > failing / 3 ? true : undefined;
    },
    1_200_000,
  );
  await gateway.kill();
  killed.abort();
  const before = receiver.received.slice(begun).filter((one) => failed.has(idOf(one))).length;
  t.ok(before < failing, `${before} of ${failing} had come when it was killed`);
  await gateway.start();
  const done = await until(
    'the end',
    async () => {
      const now = await job();
      return now.status === 'done' ? now : undefined;
    },
    1_800_000,
  );
  t.equal(done.recovered, failing);
  const recovered = receiver.received.slice(begun).filter((one) => failed.has(idOf(one)));
  const ids = new Set(recovered.map(idOf));
  t.equal(ids.size, failing, 'none is missing, ids are unchanged');
  t.ok(
    recovered.every((one) => failed.get(idOf(one)) === textOf(one)),
    'each with its event',
  );
  // Those under way when the process was killed may come twice, under the same id.
  t.ok(recovered.length - ids.size <= 10, `${recovered.length - ids.size} came twice`);
}

function idOf({ headers }: Received): string {
  return String(headers['x-webhook-delivery']);
}

function textOf(received: Received): string {
  return (payloadOf(received) as unknown as { message: { text: string } }).message.text;
}

for (const engine of storyDatabases('sqlite')) {
  t.test(
    `a recovery beside live deliveries, killed in the middle, ${engine.name}`,
    {
      timeout: 3_600_000,
    },
    (t) => recoverBesideLive(t, engine),
  );
}
