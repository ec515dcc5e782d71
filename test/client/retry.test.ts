import t from 'tap';
import { GatewayClient } from '../../public/client.ts';

const to = { phone: '+12025550123' };

/** A gateway's answer. */
function answer(status: number, body: object, headers: Record<string, string> = {}): Response {
  return Response.json(body, { status, headers });
}

/** A client whose gateway fails with a 500 of its own, once or for good, and how often it was asked. */
function afterFault(faults = 1) {
  const asked = { times: 0 };
  const fetch = async () => {
    asked.times += 1;
    if (asked.times <= faults) return answer(500, { error_code: 'internal_error' });
    const events = [{ id: 'evt_1' }];
    const messages = [{ id: 'msg_1' }];
    return answer(200, { messages, next_cursor: 'new', events, cursor: 'new', accounts: [] });
  };
  const client = new GatewayClient({ baseUrl: 'http://gateway/v1', apiKey: 'key', fetch });
  return { client, asked };
}

t.test('a stream goes on behind a fault of the gateway', async (t) => {
  const ofMessages = afterFault().client.messages({ cursor: 'old' });
  t.match(await ofMessages.next(), { value: { id: 'msg_1' } });
  const ofEvents = afterFault().client.events({ cursor: 'old' });
  t.match(await ofEvents.next(), { value: { id: 'evt_1' } });
});

t.test('a read is repeated behind a fault of the gateway, and nothing else', async (t) => {
  const read = afterFault();
  t.same((await read.client.call('list_accounts')).accounts, []);
  t.equal(read.asked.times, 2);

  const fault = { code: 'internal_error', status: 500 };
  const lasting = afterFault(Number.POSITIVE_INFINITY);
  await t.rejects(lasting.client.call('list_accounts'), fault);
  t.equal(lasting.asked.times, 4, 'a fault that lasts is told');
  const send = afterFault();
  await t.rejects(send.client.send({ to, text: 'Hi' }, { idempotencyKey: 'invoice-1' }), fault);
  t.equal(send.asked.times, 1);
  const change = afterFault();
  const body = { phone_number: '+12025550111' };
  await t.rejects(change.client.call('connect_msgapp', { body }), fault);
  t.equal(change.asked.times, 1);
});

t.test('a success that arrives without its answer is asked for again', async (t) => {
  let times = 0;
  const fetch = async () => {
    times += 1;
    if (times === 1) return new Response('<p>All well</p>', { status: 202 });
    return answer(202, { id: 'msg_1' });
  };
  const client = new GatewayClient({ baseUrl: 'http://gateway/v1', apiKey: 'key', fetch });
  t.match(await client.send({ to, text: 'Hi' }, { idempotencyKey: 'invoice-1' }), { id: 'msg_1' });
  t.equal(times, 2);
});

t.test('a Retry-After that no timer can take hurries no stream', async (t) => {
  const longestMs = 2_147_483_647;
  for (const [said, leastMs, mostMs] of [
    ['-5', 180, 220],
    ['', 180, 220],
    ['3', 3_000, 3_100],
    ['3000000', longestMs, longestMs],
  ] as const) {
    await t.test(`Retry-After: ${said}`, async (t) => {
      const ending = new AbortController();
      let requests = 0;
      const pausesMs: number[] = [];
      t.capture(globalThis, 'setTimeout', (_: unknown, ms: number) => {
        if (requests === 0) return; // the time-out of the request itself
        pausesMs.push(ms);
        queueMicrotask(() => ending.abort(new Error('enough')));
      });
      const fetch = async () => {
        requests += 1;
        return answer(503, { error_code: 'unavailable' }, { 'retry-after': said });
      };
      const client = new GatewayClient({ baseUrl: 'http://gateway/v1', apiKey: 'key', fetch });
      const stream = client.messages({ cursor: 'old', signal: ending.signal });
      await t.rejects(stream.next(), { message: 'enough' });
      t.equal(pausesMs.length, 1);
      const [pauseMs = Number.NaN] = pausesMs;
      t.ok(pauseMs >= leastMs && pauseMs <= mostMs, `${pauseMs}`);
    });
  }
});
