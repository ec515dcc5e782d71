import type { Test } from 'tap';
import { bodyOf, receive, until } from '../../harness/story.ts';
import { ask, invalid, type Refusal } from './refusal.ts';
import { numbers, type RefusalWorld } from './world.ts';

/** Nobody listens there, and it is https. */
const url = 'https://127.0.0.1:9/hook';

/** The refusals of the webhook group. The main tenant gets a webhook that is switched off. */
export async function webhookRefusals({ main, bare }: RefusalWorld): Promise<readonly Refusal[]> {
  const off = { url, name: 'off', subscribed_to: ['account.connected'], enabled: false };
  const made = await main.api.post('/webhooks', off);
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  const refused = (status: number, code: string, call: string, more: Partial<Refusal> = {}) => ({
    ...{ what: call, by: main, call, status, code },
    ...more,
  });
  const changed = { name: 'other' };
  const calls: readonly (readonly [call: string, body?: object])[] = [
    ['PUT /webhooks/nobody', changed],
    ['DELETE /webhooks/nobody'],
    ['POST /webhooks/nobody/test', {}],
    ['GET /webhooks/nobody/health'],
    ['POST /webhooks/nobody/reenable'],
    ['GET /webhooks/nobody/signing-secret'],
    ['POST /webhooks/nobody/signing-secret'],
    ['DELETE /webhooks/nobody/signing-secret'],
    ['GET /webhooks/nobody/deliveries'],
    ['POST /webhooks/nobody/deliveries/dlv_1/replay'],
    ['GET /webhooks/nobody/recover'],
  ];
  const wrong: readonly (readonly [code: string, body: object, field: string])[] = [
    ['invalid_event_type', { subscribed_to: ['message.lost'] }, 'body/subscribed_to/0'],
    ['url_not_allowed', { url: 'http://example.com/hook' }, 'body/url'],
    ['url_not_allowed', { url: 'https://a:b@example.com/hook' }, 'body/url'],
  ];
  const create = { url, subscribed_to: ['message.sent'] };
  const all: typeof calls = [
    ...calls,
    ['GET /webhooks'],
    ['GET /webhooks/events'],
    ['POST /webhooks', create],
  ];
  return [
    ...calls.map(([call, body]) => refused(404, 'webhook_not_found', call, { body })),
    ...all.map(([call, body]) => refused(403, 'webhooks_not_enabled', call, { by: bare, body })),
    ...wrong.flatMap(([code, body, field]) => [
      refused(400, code, 'POST /webhooks', { body: { ...create, ...body }, fields: [field] }),
      refused(400, code, 'PUT /webhooks/off', { body, fields: [field] }),
    ]),
    refused(400, 'invalid_event_type', 'POST /webhooks/off/test', {
      body: { event: 'message.lost' },
      fields: ['body/event'],
    }),
    refused(409, 'webhook_not_delivering', 'POST /webhooks/off/recover', {
      body: { since: '2026-01-01T00:00:00Z', status: 'all' },
    }),
    refused(404, 'delivery_not_found', 'POST /webhooks/off/deliveries/dlv_1/replay'),
    ...['x', 'A'.repeat(501)].map((text) =>
      refused(400, 'invalid_cursor', `GET /webhooks/off/deliveries?before=${text}`, {
        what: `a cursor of ${text.length} characters`,
        fields: ['query/before'],
      }),
    ),
    ...invalid(main, 'POST /webhooks', [
      ['nothing', {}, 'body/subscribed_to', 'body/url'],
      ['a name that is taken', { ...create, name: 'off' }, 'body/name'],
      ['a name like an id', { ...create, name: 'wh_1' }, 'body/name'],
      ['a name of blanks', { ...create, name: ' \t' }, 'body/name'],
    ]),
    ...invalid(main, 'PUT /webhooks/off', [
      ['no change', { enabled: true }, 'body'],
      ['a name of blanks', { name: '\u3000' }, 'body/name'],
    ]),
  ];
}

/** Every operation of the webhook group, carried out once. */
export async function webhookOperations(t: Test, { guarded }: RefusalWorld): Promise<void> {
  const does = async (status: number, call: string, body?: object): Promise<unknown> => {
    const answer = await ask(guarded, call, body);
    t.equal(answer.status, status, `${call}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  await does(200, 'GET /webhooks/events');
  const subscribed_to = ['message.received'];
  const create = { url, name: 'all', subscribed_to, generate_signing_secret: true };
  await does(201, 'POST /webhooks', { ...create, enabled: false });
  await does(200, 'GET /webhooks');
  await does(200, 'GET /webhooks/all/signing-secret');
  await does(200, 'POST /webhooks/all/signing-secret');
  await does(200, 'DELETE /webhooks/all/signing-secret');
  await receive(guarded.api, numbers.msgapp, { from: { phone: numbers.ada }, text: 'for a hook' });
  const id = await until('the delivery to be suppressed', async () => {
    const answer = await guarded.api.get('/webhooks/all/deliveries?status=suppressed');
    return bodyOf<{ deliveries: { id: string }[] }>(answer).deliveries[0]?.id;
  });
  t.match(await does(200, 'POST /webhooks/all/test', {}), { delivered: false });
  await does(200, 'PUT /webhooks/all', { name: 'all', enabled: true });
  await does(200, `POST /webhooks/all/deliveries/${id}/replay`);
  await until('the replay to fail', async () => {
    const answer = await guarded.api.get('/webhooks/all/deliveries?status=failed');
    const { deliveries } = bodyOf<{ deliveries: { id: string }[] }>(answer);
    return deliveries.some((one) => one.id === id) ? true : undefined;
  });
  await does(202, 'POST /webhooks/all/recover', { since: '2026-01-01T00:00:00Z', status: 'all' });
  await does(200, 'GET /webhooks/all/recover');
  await does(200, 'GET /webhooks/all/health');
  await does(200, 'POST /webhooks/all/reenable');
  await does(200, 'DELETE /webhooks/all');
}
