import t from 'tap';
import { storyDatabases } from '../harness/databases.ts';
import { runFleet } from '../harness/fleet.ts';
import { payloadOf, startReceiver } from '../harness/receiver.ts';
import { bodyOf, pair, phoneNumber, receive, until } from '../harness/story.ts';

const phone = phoneNumber(1);
const settings = {
  GATEWAY_WEBHOOKS__PAUSE_AFTER_FAILURES: '4',
  GATEWAY_WEBHOOKS__PAUSE_AFTER_S: '0',
};

for (const engine of storyDatabases('mariadb')) {
  t.test(`events about delivery itself, ${engine.name}`, async (t) => {
    const fleet = await runFleet(t, engine, settings);
    const { id, api } = await fleet.tenant('growth');
    const receiver = await startReceiver(t, ({ path }) => (path === '/failing' ? 500 : 204));
    const events = async () =>
      bodyOf<{ events: string[] }>(await api.get('/webhooks/events')).events;
    const watch = {
      url: receiver.url('/watch'),
      subscribed_to: ['webhook.failing', 'webhook.paused'],
    };
    t.equal((await events()).length, 9, 'nine by default');
    t.match(await api.post('/webhooks', watch), {
      ...{ status: 400, body: { error_code: 'invalid_event_type' } },
    });
    await fleet.enable(id, 'operator_events');
    await until('the feature', async () => ((await events()).length === 11 ? true : undefined));
    t.equal((await api.post('/webhooks', watch)).status, 201);
    const failing = { url: receiver.url('/failing'), retries_enabled: false };
    const subscribed_to = ['message.received', ...watch.subscribed_to];
    t.equal((await api.post('/webhooks', { ...failing, subscribed_to })).status, 201);
    const { cursor } = bodyOf<{ cursor: string }>(await api.get('/events?timeout_s=0'));

    await pair(api, phone);
    const write = (text: string) =>
      receive(api, phone, { from: { phone: phoneNumber(100) }, text });
    for (let n = 0; n < 4; n += 1) {
      await write(`${n}`);
      await until(`attempt ${n}`, async () => receiver.at('/failing').length > n || undefined);
    }
    const told = await until('both events', async () => {
      const found = receiver.at('/watch').map((one) => payloadOf(one) as unknown as Told);
      return found.length === 2 ? found : undefined;
    });
    const url = failing.url;
    t.match(told, [
      { event: 'webhook.failing', webhook: { url, consecutive_failures: 2, reason: null } },
      { event: 'webhook.paused', webhook: { url, consecutive_failures: 4, reason: /^Paused/ } },
    ]);
    // Only now is the fourth failure stored, and the webhook paused.
    await write('4');
    const types = 'webhook.failing,webhook.paused';
    const read = await api.get(`/events?timeout_s=0&cursor=${cursor}&types=${types}`);
    t.match(bodyOf<{ events: unknown[] }>(read).events, [
      { payload: told[0] },
      { payload: told[1] },
    ]);

    const typesRead = async () => {
      const rest = await api.get(`/events?timeout_s=0&cursor=${cursor}`);
      return new Set(bodyOf<{ events: Typed[] }>(rest).events.map(({ type }) => type));
    };
    t.ok((await typesRead()).has('webhook.paused'), 'with the others, too');
    await fleet.disable(id, 'operator_events');
    await until('its end', async () => ((await events()).length === 9 ? true : undefined));
    const left = await typesRead();
    t.ok(left.has('message.received'));
    t.notOk(left.has('webhook.failing') || left.has('webhook.paused'), 'none of a type it lost');
    t.equal(receiver.at('/failing').length, 4, 'the URL concerned gets none of them');
  });
}

interface Told {
  readonly event: string;
  readonly webhook: object;
}

interface Typed {
  readonly type: string;
}
