import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { rpc } from '../harness/agent.ts';
import { client } from '../harness/client.ts';
import { generousLimits, type RunningGateway, runGateway } from '../harness/gateway.ts';
import { scale } from '../harness/scale.ts';
import { connected, pair, phoneNumber, until } from '../harness/story.ts';
import { rawReceiver } from '../plugins/egress/receivers.ts';
import { listen } from '../plugins/egress/world.ts';

const agentHeaders = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};
const phone = phoneNumber(1);
/** Of one phase: where a ratio is judged, long enough for several full batches of the permitted rate. */
const phaseMs = scale < 1 ? 1_000 : 4_000;
/** How often a phase is played: the machine may be busy in one of them. At small scale other tests run beside. */
const rounds = scale < 1 ? 1 : 3;

/** The 99th percentile of the times of sends at an even pace, in milliseconds. */
async function sendTimes({ api }: RunningGateway): Promise<number> {
  const times: number[] = [];
  const end = performance.now() + phaseMs;
  while (performance.now() < end) {
    const begun = performance.now();
    const { status } = await api.post('/messages', { to: { phone: phoneNumber(900) }, text: 'x' });
    times.push(performance.now() - begun);
    if (status !== 202) throw new Error(`a send was answered ${status}`);
    await sleep(20);
  }
  times.sort((one, other) => one - other);
  return times[Math.floor(times.length * 0.99)] ?? 0;
}

/** Does something again and again beside the sends; answers how often each status came. */
async function beside(abuse: () => Promise<number>, work: () => Promise<void>) {
  const statuses = new Map<number, number>();
  let over = false;
  const abusers = Array.from({ length: 20 }, async (_, n) => {
    // At an even pace: twenty at the same moment would measure the client.
    await sleep(n * 50);
    while (!over) {
      const status = await abuse();
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      await sleep(1_000);
    }
  });
  await work();
  // A busy machine takes longer to reach the rate.
  const reached = async () => (statuses.has(429) ? true : undefined);
  await until('a refusal', reached).catch(() => undefined);
  over = true;
  await Promise.all(abusers);
  return statuses;
}

t.test('a tenant at its full rate does not slow its neighbour down', async (t) => {
  const gateway = await runGateway(t, {
    databaseUrl: null,
    settings: { ...generousLimits, GATEWAY_LIMITS__REQUESTS_PER_S: '100' },
  });
  await pair(gateway.api, phone);
  await connected(gateway.api, phone);
  // Warmed up where a ratio is judged.
  if (scale >= 1) await sendTimes(gateway);
  const live = client(gateway.baseUrl, gateway.liveKey);
  const receiver = await listen(
    t,
    rawReceiver(() => undefined),
  );
  const { body: made } = await live.post('/webhooks', {
    name: 'hangs',
    subscribed_to: ['message.failed'],
    url: `http://127.0.0.1:${receiver.port}/`,
  });
  const { id: webhook } = (made as { webhook: { id: string } }).webhook;
  const batch = `[${Array.from({ length: 20 }, (_, id) => rpc('tools/list', {}, id)).join()}]`;
  const abuses: readonly [what: string, abuse: () => Promise<number>][] = [
    [
      'batches of lists for agents',
      async () => {
        const headers = { ...agentHeaders, 'x-api-key': gateway.liveKey };
        const { status, body } = await fetch(gateway.mcpUrl, {
          method: 'POST',
          headers,
          body: batch,
        });
        // The client's own work is not what is measured.
        await body?.cancel();
        return status;
      },
    ],
    [
      'test deliveries to a host that hangs',
      async () => (await live.post(`/webhooks/${webhook}/test`)).status,
    ],
  ];
  for (const [what, abuse] of abuses) {
    const ratios: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      // Beside other tests a ratio says nothing.
      const alone = scale < 1 ? null : await sendTimes(gateway);
      let together = 0;
      const statuses = await beside(abuse, async () => {
        together = await sendTimes(gateway);
      });
      if (alone !== null) ratios.push(together / alone);
      t.ok((statuses.get(429) ?? 0) > 0, `${what} are refused beyond the rate`);
      const [calm, busy] = [alone, together].map((ms) => `${ms?.toFixed(1) ?? 'unknown'} ms`);
      t.comment(`${what}: ${JSON.stringify([...statuses])}, p99 ${calm} alone, ${busy} beside`);
    }
    if (scale < 1) continue;
    const best = Math.min(...ratios);
    t.ok(best < 2, `${what}: the neighbour's p99 is ${best.toFixed(2)} of what it has alone`);
  }
  t.ok(receiver.connections() < 30, `${receiver.connections()} connections to the host that hangs`);
});
