import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { eventTypes } from '../../../core/contracts/events.ts';
import { makeKeyring } from '../../../plugins/secrets/keyring.ts';
import { makeSecrets } from '../../../plugins/secrets/sealing.ts';
import { deliveriesScanned } from '../../../plugins/webhooks/delivery-search.ts';
import { receiverId } from '../../../plugins/webhooks/subscriptions/receiver-id.ts';
import { signingSecretContext } from '../../../plugins/webhooks/subscriptions/secret.ts';
import type { Client, ClientAnswer } from '../../harness/client.ts';
import { databases, storyDatabases } from '../../harness/databases.ts';
import { header, judge, type Received } from '../../harness/receiver.ts';
import { openRows } from '../../harness/rows.ts';
import { until } from '../../harness/story.ts';
import { dispatched } from '../messages/stored-message.ts';
import {
  addAccount,
  type Customer,
  deliveryOf,
  goneRefusal,
  insideRefusal,
  type Office,
  openOffice,
  pausedHealth,
} from './office.ts';

interface ShownWebhook {
  readonly id: string;
  readonly name: string;
  readonly url: string;
}

const secretText = /^whsec_[A-Za-z0-9+/]{43}=$/;
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const least = { url: 'https://example.com/hook', subscribed_to: ['message.sent'] };
const noSuch = 'wh_01jxk5d8a0c1v7m2q3r4s5t6w7';
const randomSecret = () => randomBytes(32).toString('base64');

function bodyOf<Body>(answer: ClientAnswer, status = 200): Body {
  if (answer.status !== status) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body as Body;
}

async function make(api: Client, body: object = {}): Promise<ShownWebhook> {
  const made = await api.post('/webhooks', { ...least, ...body });
  return bodyOf<{ webhook: ShownWebhook }>(made, 201).webhook;
}

async function stored(office: Office, { id }: Customer) {
  const webhook = (await office.cradle.storage.read.webhooks.list(id))[0];
  if (webhook === undefined) throw new Error('there is no webhook');
  return webhook;
}

/** Every operation that names a subscription. */
function callsOn(id: string, api: Client): readonly (() => Promise<ClientAnswer>)[] {
  return [
    () => api.put(`/webhooks/${id}`, { name: 'other' }),
    () => api.delete(`/webhooks/${id}`),
    () => api.post(`/webhooks/${id}/test`),
    () => api.get(`/webhooks/${id}/health`),
    () => api.post(`/webhooks/${id}/reenable`),
    () => api.get(`/webhooks/${id}/signing-secret`),
    () => api.post(`/webhooks/${id}/signing-secret`),
    () => api.delete(`/webhooks/${id}/signing-secret`),
    () => api.get(`/webhooks/${id}/deliveries`),
    () => api.post(`/webhooks/${id}/deliveries/dlv_1/replay`),
  ];
}

for (const engine of databases) {
  t.test(engine.name, async (t) => {
    const database = await engine.create(t);
    // What asks the engine nothing of its own is played on one, as a long story is.
    const story = { skip: !storyDatabases('sqlite').some((one) => one.name === engine.name) };
    const env = { GATEWAY_SECRET: randomSecret() };
    const office = await openOffice(t, database.url, env);
    const rows = openRows(t, database.url);
    const all = async () => {
      const tables = ['webhooks', 'receivers', 'deliveries', 'events'];
      const found = await Promise.all(
        tables.map((table) => rows.rows<object>('select * from ?? order by id', [table])),
      );
      return JSON.stringify(found);
    };

    t.test('a subscription from its creation to its end', async (t) => {
      const { api } = await office.customer();
      t.strictSame((await api.get('/webhooks')).body, { success: true, webhooks: [] });
      const twice = { subscribed_to: ['message.sent', 'account.connected', 'message.sent'] };
      const created = bodyOf<{ webhook: ShownWebhook }>(
        await api.post('/webhooks', { ...least, ...twice }),
        201,
      );
      const { webhook } = created;
      t.match(webhook, { id: /^wh_[0-9a-z]{26}$/, name: /^webhook-\d{8}T\d{9}Z$/ });
      const expected = {
        id: webhook.id,
        name: webhook.name,
        url: least.url,
        subscribed_to: ['message.sent', 'account.connected'],
        account_ids: null,
        channels: null,
        created_at: (webhook as unknown as { created_at: string }).created_at,
        signing_enabled: false,
        retries_enabled: false,
        enabled: true,
      };
      t.strictSame(created, { success: true, webhook: expected });
      t.match(expected.created_at, time);
      const health = { consecutive_failures: 0, is_disabled: false };
      const listed = { success: true, webhooks: [{ ...expected, health }] };
      t.strictSame((await api.get('/webhooks')).body, listed);

      const changes = {
        name: 'a/b c?ü%',
        subscribed_to: ['message.read'],
        retries_enabled: true,
        enabled: false,
      };
      const updated = await api.put(`/webhooks/${webhook.id}`, changes);
      t.strictSame(updated.body, { success: true, webhook: { ...expected, ...changes } });
      const byName = `/webhooks/${encodeURIComponent(changes.name)}`;
      const again = await api.put(byName, { subscribed_to: ['message.failed'] });
      const now = { ...expected, ...changes, subscribed_to: ['message.failed'] };
      t.strictSame(again.body, { success: true, webhook: now }, 'by its exact name');
      t.match(await api.put(byName, { name: changes.name }), { status: 200 }, 'its own name');
      t.match(await api.get(`/webhooks/${webhook.name}/health`), { status: 404 }, 'the old name');
      const nothing = { success: true, webhook_id: webhook.id, url: least.url, health: null };
      t.strictSame((await api.get(`${byName}/health`)).body, nothing);

      const gone = { success: true, webhook_id: webhook.id, deleted: true };
      t.strictSame((await api.delete(byName)).body, gone);
      t.match(await api.delete(`/webhooks/${webhook.id}`), { status: 404 });
      t.strictSame((await api.get('/webhooks')).body, { success: true, webhooks: [] });
    });

    t.test('filters by account and channel', async (t) => {
      const customer = await office.customer();
      const { api } = customer;
      const acc = await addAccount(office, customer.id);
      const removed = await addAccount(office, customer.id);
      const foreign = await addAccount(office, (await office.customer()).id);
      await office.run((unit) => unit.accounts.remove([removed], unit.now));
      const given = { account_ids: [acc, removed, acc], channels: ['chatapp'] };
      const shown = { account_ids: [acc, removed], channels: ['chatapp'] };
      const made = await api.post('/webhooks', { ...least, name: 'filtered', ...given });
      t.match(made, { status: 201, body: { webhook: shown } });
      t.match((await api.get('/webhooks')).body, { webhooks: [shown] });
      const change = (changes: object) =>
        api.put('/webhooks/filtered', { name: 'filtered', ...changes });
      t.match((await change({})).body, { webhook: shown }, 'what is not given stays');
      const all = { account_ids: null, channels: null };
      t.match((await change(all)).body, { webhook: all });
      t.match((await change(given)).body, { webhook: shown });
      for (const [wrong, status, error_code, error] of [
        [
          { account_ids: [acc, foreign] },
          400,
          'invalid_request',
          /^body\/account_ids\/1 is not the id/,
        ],
        [
          { account_ids: ['a'.repeat(500)] },
          400,
          'invalid_request',
          /^body\/account_ids\/0 is not the id/,
        ],
        [
          { channels: ['chatapp', 'fax'] },
          400,
          'invalid_request',
          /^body\/channels\/1 .*msgapp_web/,
        ],
        [{ account_ids: [] }, 400, 'invalid_request', /body\/account_ids/],
        [{ channels: [] }, 400, 'invalid_request', /body\/channels/],
        [{ channels: 'chatapp' }, 400, 'invalid_request', /body\/channels/],
      ] as const) {
        const refusal = { status, body: { error_code, error } };
        t.match(await change(wrong), refusal, JSON.stringify(wrong));
        t.match(await api.post('/webhooks', { ...least, ...wrong }), refusal);
      }
      t.match((await api.get('/webhooks')).body, { webhooks: [shown] });
    });

    t.test('refusals change nothing', async (t) => {
      const customer = await office.customer();
      const { api } = customer;
      const mine = await make(api, { name: 'mine' });
      await make(api, { name: 'other' });
      await make((await office.customer()).api, { name: 'elsewhere' });
      const name = (message: string) => ({
        error_code: 'invalid_request',
        error: message,
        details: [{ path: 'body/name', message }],
      });
      const missing = (message: string, path: string) => ({
        error_code: 'invalid_request',
        error: message,
        details: [{ path, message }],
      });
      const taken = name('body/name is the name of another webhook; names are unique');
      const reserved = name('body/name must not begin with wh_, as ids do, nor be . or ..');
      const url = {
        error_code: 'url_not_allowed',
        error: insideRefusal,
        details: [{ path: 'body/url', message: insideRefusal }],
      };
      const gone = { ...missing(goneRefusal, 'body/url'), error_code: 'url_not_allowed' };
      const unclear = {
        error_code: 'unavailable',
        error: `body/url could not be checked: ${goneRefusal} Nothing was changed: try again, or correct what the name servers of the host say.`,
      };
      const set = `it has ${eventTypes.join(', ')}`;
      const event = (...paths: string[]) => {
        const details = paths.map((path) => ({
          path,
          message: `${path} is not an event type of the account; ${set}`,
        }));
        return { error_code: 'invalid_event_type', error: details[0]?.message, details };
      };
      const found = 'There is no webhook with this id or name.';
      const post = (body: object) => api.post('/webhooks', body);
      const put = (body: object) => api.put(`/webhooks/${mine.id}`, body);
      const cases: readonly [string, () => Promise<ClientAnswer>, number, object][] = [
        ['taken name', () => post({ ...least, name: 'other' }), 400, taken],
        ['reserved name', () => post({ ...least, name: 'wh_x' }), 400, reserved],
        ['url', () => post({ ...least, url: 'https://inside/' }), 400, url],
        ['no such host', () => post({ ...least, url: 'https://gone/' }), 400, gone],
        ['no lookup', () => post({ ...least, url: 'https://unclear/' }), 503, unclear],
        ['no lookup on update', () => put({ url: 'https://unclear/' }), 503, unclear],
        [
          'events',
          () => post({ ...least, subscribed_to: ['message.sent', 'nothing', 'message.SENT'] }),
          400,
          event('body/subscribed_to/1', 'body/subscribed_to/2'),
        ],
        [
          'no events',
          () => post({ ...least, subscribed_to: [] }),
          400,
          missing('body/subscribed_to must not be empty', 'body/subscribed_to'),
        ],
        [
          'no url',
          () => post({ subscribed_to: ['message.sent'] }),
          400,
          missing('body/url is required', 'body/url'),
        ],
        [
          'name of blanks',
          () => post({ ...least, name: ' ' }),
          400,
          name('body/name must not be only blanks'),
        ],
        ['taken by update', () => put({ name: 'other' }), 400, taken],
        ['reserved by update', () => put({ name: 'wh_', url: least.url }), 400, reserved],
        ['url by update', () => put({ url: 'https://inside/' }), 400, url],
        [
          'events by update',
          () => put({ subscribed_to: ['x'] }),
          400,
          event('body/subscribed_to/0'),
        ],
        [
          'nothing that an update needs',
          () => put({ enabled: false, retries_enabled: true }),
          400,
          missing('body needs at least one of "url", "subscribed_to", "name"', 'body'),
        ],
        [
          'test of an unknown event',
          () => api.post(`/webhooks/${mine.id}/test`, { event: 'message' }),
          400,
          event('body/event'),
        ],
        [
          'delivery',
          () => api.post(`/webhooks/${mine.id}/deliveries/dlv_1/replay`),
          404,
          { error_code: 'delivery_not_found', error: 'There is no delivery with this id.' },
        ],
        ...['MINE', 'mine%20', noSuch, 'elsewhere', 'a'.repeat(101)].flatMap((text, n) =>
          callsOn(text, api)
            .slice(0, n < 2 ? 1 : 99)
            .map(
              (call) =>
                [text, call, 404, { error_code: 'webhook_not_found', error: found }] as [
                  string,
                  () => Promise<ClientAnswer>,
                  number,
                  object,
                ],
            ),
        ),
      ];
      const before = await all();
      for (const [what, call, status, body] of cases) {
        const answer = await call();
        t.strictSame([answer.status, answer.body], [status, { success: false, ...body }], what);
      }
      t.equal(await all(), before, 'nothing was changed');
      t.equal(office.posts.length, 0, 'nothing went out');
      t.match(
        await make(api, { name: 'elsewhere' }),
        { name: 'elsewhere' },
        'names are per tenant',
      );
    });

    t.test('limits are exact when many ask at once, of two processes', async (t) => {
      const { api, key } = await office.customer();
      const beside = (await openOffice(t, database.url, env)).clientOf(key);
      const clientOf = (n: number) => (n % 2 === 0 ? api : beside);
      await beside.get('/webhooks');
      const asked = Array.from({ length: 23 }, (_, n) => clientOf(n).post('/webhooks', least));
      const answers = await Promise.all(asked);
      const refused = answers.filter(({ status }) => status !== 201);
      const error =
        'The account has 20 webhooks, the most it may have; delete one that is not needed.';
      t.strictSame(
        refused.map(({ status, body }) => [status, body]),
        Array(3).fill([
          400,
          {
            ...{ success: false, error_code: 'invalid_request', error },
            details: [{ path: 'body', message: error }],
          },
        ]),
      );
      const list = async () =>
        bodyOf<{ webhooks: ShownWebhook[] }>(await api.get('/webhooks')).webhooks;
      const webhooks = await list();
      t.equal(webhooks.length, 20);
      t.equal(new Set(webhooks.map(({ name }) => name)).size, 20, 'their default names differ');
      const [first] = webhooks;
      await api.delete(`/webhooks/${first?.id}`);
      await api.delete(`/webhooks/${webhooks[1]?.id}`);
      const twins = await Promise.all(
        Array.from({ length: 6 }, (_, n) =>
          clientOf(n).post('/webhooks', { ...least, name: 'twin' }),
        ),
      );
      t.equal(twins.filter(({ status }) => status === 201).length, 1, 'one of the twins');
      const renamed = await Promise.all(
        webhooks
          .slice(2, 6)
          .map(({ id }, n) => clientOf(n).put(`/webhooks/${id}`, { name: 'one' })),
      );
      t.equal(renamed.filter(({ status }) => status === 200).length, 1, 'one has the name');
      const deleted = await Promise.all([1, 2, 3].map((n) => clientOf(n).delete('/webhooks/twin')));
      t.same(deleted.map(({ status }) => status).sort(), [200, 404, 404]);
      t.equal((await list()).length, 18);
      const two = await Promise.all([
        api.put('/webhooks/one', { name: 'two' }),
        api.post('/webhooks', { ...least, name: 'one' }),
      ]);
      t.ok(
        two.every(({ status }) => status < 300 || status === 400),
        'a name that is just given up',
      );
    });

    t.test('tenants without webhooks, and without some events', async (t) => {
      const bare = await office.customer('bare');
      const off = await office.customer();
      const { id } = await make(off.api);
      const change = (disable: string[], enable: string[] = []) =>
        office.cradle.tenants.update(off.id, { disable, enable });
      await change(['webhooks']);
      const refusal = {
        success: false,
        error_code: 'webhooks_not_enabled',
        error: 'Webhooks are not enabled for the account.',
      };
      const before = await all();
      for (const { api } of [bare, off]) {
        const calls = [
          () => api.get('/webhooks'),
          () => api.post('/webhooks', least),
          () => api.get('/webhooks/events'),
          ...callsOn(id, api),
        ];
        for (const call of calls) {
          const { status, body } = await call();
          t.strictSame([status, body], [403, refusal]);
        }
      }
      t.equal(await all(), before);

      await change(['event:message.sent', 'event:message.delivered'], ['webhooks']);
      const { api } = off;
      const rest = eventTypes.filter((type) => !/sent|delivered/.test(type));
      const listed = bodyOf<{ success: boolean; events: string[]; descriptions: object }>(
        await api.get('/webhooks/events'),
      );
      t.strictSame([listed.success, listed.events], [true, rest]);
      t.strictSame(Object.keys(listed.descriptions), rest);
      const code = { status: 400, body: { success: false, error_code: 'invalid_event_type' } };
      t.match(await api.post('/webhooks', least), code);
      t.match(await api.put(`/webhooks/${id}`, { subscribed_to: ['message.sent'] }), code);
      t.match(await api.post(`/webhooks/${id}/test`), code, 'the usual event of a test');
      t.match(await api.post(`/webhooks/${id}/test`, { event: 'message.read' }), { status: 200 });
      t.match(await api.put(`/webhooks/${id}`, { name: 'kept' }), {
        body: { webhook: { subscribed_to: ['message.sent'] } },
      });
      office.posts.length = 0;
    });

    t.test('secrets', async (t) => {
      const { api } = await office.customer();
      const asked = await api.post('/webhooks', { ...least, generate_signing_secret: true });
      const { webhook, signing_secret: first = '' } = bodyOf<{
        webhook: ShownWebhook & { signing_secret_created_at: string };
        signing_secret: string;
      }>(asked, 201);
      t.match(first, secretText);
      t.match(webhook, { signing_enabled: true, signing_secret_created_at: time });
      const path = `/webhooks/${webhook.id}/signing-secret`;
      const signed = {
        success: true,
        webhook_id: webhook.id,
        signing_enabled: true,
        signing_secret: first,
        signing_secret_created_at: webhook.signing_secret_created_at,
      };
      t.strictSame((await api.get(path)).body, signed);
      const second = bodyOf<typeof signed>(await api.post(path));
      t.match(second, { ...signed, signing_secret: secretText, signing_secret_created_at: time });
      t.not(second.signing_secret, first);
      t.strictSame((await api.get(path)).body, second);
      const shown = [
        await api.get('/webhooks'),
        await api.put(`/webhooks/${webhook.id}`, { name: 'signed', enabled: false }),
        await api.post('/webhooks', { ...least, generate_signing_secret: false }),
        await api.get(`/webhooks/${webhook.id}/deliveries`),
      ];
      t.notMatch(JSON.stringify(shown.map(({ body }) => body)), /whsec_|"signing_secret"/);
      t.notMatch(await all(), /whsec_/, 'no table has a secret that can be read');

      const off = { ...signed, signing_enabled: false, signing_secret: null };
      const unsigned = { ...off, signing_secret_created_at: null };
      t.strictSame((await api.delete(path)).body, unsigned);
      t.strictSame((await api.delete(path)).body, unsigned);
      t.strictSame((await api.get(path)).body, unsigned);
      t.match((await api.get('/webhooks')).body, { webhooks: [{ signing_enabled: false }, {}] });
      t.match((await api.post(path)).body, { signing_enabled: true, signing_secret: secretText });
    });

    t.test('a secret that no key opens is said to be, until it is rotated', story, async (t) => {
      const customer = await office.customer();
      const { api } = customer;
      const { id } = await make(api, { generate_signing_secret: true });
      const lost = makeSecrets(makeKeyring(randomSecret(), null));
      const sealedSecret = lost.seal('whsec_', signingSecretContext(id));
      const webhook = await stored(office, customer);
      await office.run((unit) => unit.webhooks.save([{ ...webhook, sealedSecret }]));
      const path = `/webhooks/${id}/signing-secret`;
      const error = 'The gateway cannot open the signing secret: rotate it, or turn signing off.';
      const refusal = { status: 500, body: { error_code: 'internal_error', error } };
      office.posts.length = 0;
      t.match(await api.get(path), refusal);
      t.match(await api.post(`/webhooks/${id}/test`), refusal);
      t.equal(office.posts.length, 0);
      t.match(await api.get('/webhooks'), { status: 200, body: { webhooks: [{ id }] } });
      const { signing_secret } = bodyOf<{ signing_secret: string }>(await api.post(path));
      t.match(await api.get(path), { status: 200, body: { signing_secret } });
      t.match(await api.post(`/webhooks/${id}/test`), { status: 200, body: { delivered: true } });
    });

    t.test('health begins anew', async (t) => {
      const customer = await office.customer();
      const { api } = customer;
      const url = 'https://example.com/shared';
      const one = await make(api, { url });
      const two = await make(api, { url });
      const receiver = receiverId(customer.id, url);
      const at = 1_800_000_000_000;
      const pause = () =>
        office.run((unit) =>
          unit.receivers.saveHealth([{ id: receiver, health: pausedHealth(at) }]),
        );
      const health = async ({ id }: ShownWebhook) =>
        bodyOf<{ health: object | null }>(await api.get(`/webhooks/${id}/health`)).health;
      await pause();
      const iso = (ms: number) => new Date(ms).toISOString();
      const paused = {
        consecutive_failures: 20,
        total_failures: 25,
        total_successes: 7,
        is_disabled: true,
        disabled_at: iso(at),
        disabled_reason: 'It failed 20 times in a row.',
        last_failure: {
          at: iso(at),
          event: 'message.sent',
          delivery_id: 'dlv_last',
          attempt: 1,
          kind: 'status',
          status_code: 500,
          message: 'The receiver answered 500 instead of 2xx.',
          duration_ms: 5,
        },
        last_success_at: iso(at - 800_000),
        created_at: iso(at - 900_000),
        updated_at: iso(at),
      };
      t.strictSame([await health(one), await health(two)], [paused, paused], 'it is shared');

      const short = async () =>
        bodyOf<{ webhooks: { health: object }[] }>(await api.get('/webhooks')).webhooks.map(
          (webhook) => webhook.health,
        );
      const shortPause = { consecutive_failures: 20, is_disabled: true };
      t.strictSame(await short(), [shortPause, shortPause], 'the list has it in short');
      const { api: stranger } = await office.customer();
      await make(stranger, { url });
      const untouched = { consecutive_failures: 0, is_disabled: false };
      const theirs = { webhooks: [{ health: untouched }] };
      t.match((await stranger.get('/webhooks')).body, theirs, 'not that of another tenant');

      const third = await make(api, { url });
      t.strictSame(await health(third), paused, 'a new webhook shares it as it is');
      await api.put(`/webhooks/${third.id}`, { name: 'third', enabled: true });
      t.strictSame(await health(one), paused, 'an update without url leaves it alone');

      const answer = bodyOf<{ health: { updated_at: string } }>(
        await api.post(`/webhooks/${one.id}/reenable`),
      );
      const active = {
        ...paused,
        consecutive_failures: 0,
        total_failures: 0,
        is_disabled: false,
        disabled_at: null,
        disabled_reason: null,
        updated_at: answer.health.updated_at,
      };
      t.strictSame(answer, { success: true, webhook_id: one.id, health: active });
      t.strictSame(await health(two), active);
      const [row] = await office.cradle.storage.read.receivers.find([receiver]);
      t.equal(row?.health.failingSince, null);

      await pause();
      await api.put(`/webhooks/${third.id}`, { url });
      t.equal(await health(one), null, 'an update to the URL, the same too');
      await pause();
      await api.put(`/webhooks/${third.id}`, { url: 'https://example.com/else' });
      t.strictSame(await health(one), paused, 'one to another URL leaves the first as it is');
      t.equal(await health(third), null);
      t.strictSame(await short(), [shortPause, shortPause, untouched], 'each has that of its URL');
      await api.delete(`/webhooks/${two.id}`);
      t.equal(await health(one), null, 'a deletion');
      const never = await api.post(`/webhooks/${one.id}/reenable`);
      t.strictSame(never.body, { success: true, webhook_id: one.id, health: null });
    });

    t.test('waiting deliveries follow their webhook', async (t) => {
      const customer = await office.customer();
      const { id } = await make(customer.api);
      const before = await stored(office, customer);
      await office.run((unit) =>
        unit.deliveries.add([
          deliveryOf(before, 1),
          deliveryOf(before, 2, { state: 'failed', dueAt: null }),
        ]),
      );
      const url = 'https://example.com/moved';
      await customer.api.put(`/webhooks/${id}`, { url });
      const to = receiverId(customer.id, url);
      const found = await office.cradle.storage.read.deliveries.byIds([
        deliveryOf(before, 1).id,
        deliveryOf(before, 2).id,
      ]);
      t.strictSame(found.map(({ state, receiverId }) => [state, receiverId]).sort(), [
        ['failed', before.receiverId],
        ['waiting', to],
      ]);
      const [receiver] = await rows.rows<{ due_at: number | null }>(
        'select due_at from receivers where id = ?',
        [to],
      );
      t.type(receiver?.due_at, 'number', 'some process will claim the receiver');
      await customer.api.delete(`/webhooks/${id}`);
      const filter = { state: null, before: null, limit: 1 };
      await until('the end of its log', async () => {
        const left = await office.cradle.storage.read.deliveries.list(id, filter);
        return left.length === 0 ? true : undefined;
      });
    });

    t.test('tests', async (t) => {
      const customer = await office.customer();
      const { api } = customer;
      const off = { url: 'https://example.com/ok', enabled: false, generate_signing_secret: true };
      const { id } = await make(api, off);
      const webhook = await stored(office, customer);
      await office.run((unit) =>
        unit.receivers.saveHealth([{ id: webhook.receiverId, health: pausedHealth(1e12) }]),
      );
      const health = (await api.get(`/webhooks/${id}/health`)).body;
      const secret = bodyOf<{ signing_secret: string }>(
        await api.get(`/webhooks/${id}/signing-secret`),
      ).signing_secret;
      for (const event of [undefined, ...eventTypes]) {
        office.posts.length = 0;
        const body = event === undefined ? undefined : { event };
        const answer = bodyOf<{ delivery_id: string; duration_ms: number }>(
          await api.post(`/webhooks/${id}/test`, body),
        );
        const expected = event ?? 'message.delivered';
        t.strictSame(answer, {
          success: true,
          webhook_id: id,
          delivered: true,
          event: expected,
          delivery_id: answer.delivery_id,
          status_code: 204,
          duration_ms: answer.duration_ms,
        });
        t.equal(office.posts.length, 1);
        const [post] = office.posts;
        if (post === undefined) throw new Error('nothing went out');
        const received: Received = {
          path: '/ok',
          headers: { ...post.headers },
          rawBody: Buffer.from(post.body),
          at: Date.now(),
        };
        t.equal(judge(received, secret), 'genuine');
        t.equal(header(received, 'x-webhook-event'), expected);
        t.equal(header(received, 'x-webhook-delivery'), answer.delivery_id);
        t.equal(header(received, 'x-webhook-attempt'), '1');
        checkPayload(t, expected, JSON.parse(post.body));
      }
      t.strictSame((await api.get(`/webhooks/${id}/health`)).body, health, 'no counter moved');
      const [newest] = await logOf(api, id);
      const [last] = office.posts;
      t.match(newest, {
        id: last?.headers['x-webhook-delivery'],
        event: 'account.limit_reached',
        status: 'delivered',
        test: true,
        next_attempt_at: null,
        attempt_count: 1,
        attempts: [{ attempt: 1, status_code: 204, answer: '', failure: null }],
      });
      t.strictSame(newest?.payload, JSON.parse(last?.body ?? ''));
      t.equal((await logOf(api, id)).length, eventTypes.length + 1);

      await api.put(`/webhooks/${id}`, { url: 'https://example.com/fails' });
      await api.delete(`/webhooks/${id}/signing-secret`);
      const failed = bodyOf<{ delivery_id: string; failure: object }>(
        await api.post(`/webhooks/${id}/test`, { event: 'message.read' }),
      );
      t.match(failed, { success: true, delivered: false, event: 'message.read', status_code: 500 });
      t.strictSame(failed.failure, {
        kind: 'status',
        message: 'The receiver answered 500 instead of 2xx.',
        status_code: 500,
      });
      t.notOk(
        Object.keys(office.posts.at(-1)?.headers ?? {}).some((name) => /sign|stamp/.test(name)),
      );
      await api.put(`/webhooks/${id}`, { url: 'https://example.com/hangs' });
      const hung = bodyOf<{ failure: object }>(await api.post(`/webhooks/${id}/test`, {}));
      t.match(hung, { delivered: false, status_code: null });
      t.strictSame(hung.failure, {
        kind: 'timeout',
        message: 'No answer in time.',
        status_code: null,
      });
      t.match(await logOf(api, id, '?status=failed'), [
        { event: 'message.delivered', attempts: [{ status_code: null, answer: '' }] },
        { event: 'message.read', attempts: [{ status_code: 500, answer: 'oops' }] },
      ]);
      t.match(await api.get(`/webhooks/${id}/health`), { body: { health: null } });
      const replay = `/webhooks/${id}/deliveries/${failed.delivery_id}/replay`;
      t.match(await api.post(replay), { status: 400, body: { error_code: 'invalid_request' } });
    });

    t.test(
      'a rare event of a long log is found over pages that read a bounded number',
      async (t) => {
        const customer = await office.customer();
        const { api } = customer;
        const { id } = await make(api);
        const webhook = await stored(office, customer);
        const total = 2 * deliveriesScanned;
        const rare = [3, total - 3, total - 2];
        const deliveries = Array.from({ length: total }, (_, n) => {
          const changes = { state: 'delivered', dueAt: null, createdAt: 1_000_000 + n } as const;
          const eventType = rare.includes(n) ? 'message.failed' : 'message.sent';
          return deliveryOf(webhook, n, { ...changes, eventType });
        });
        for (let start = 0; start < total; start += 1_000) {
          await office.run((unit) => unit.deliveries.add(deliveries.slice(start, start + 1_000)));
        }
        for (const filter of ['event=message.failed', 'event=message.failed&status=delivered']) {
          const pages: (readonly string[])[] = [];
          let before = '';
          do {
            const path = `/webhooks/${id}/deliveries?limit=1&${filter}${before}`;
            const page = bodyOf<Page>(await api.get(path));
            pages.push(page.deliveries.map((one) => one.id));
            before = page.next_cursor === null ? '' : `&before=${page.next_cursor}`;
          } while (before !== '');
          const [oldest, middle, newest] = rare.map((n) => deliveries[n]?.id);
          t.strictSame(pages, [[newest], [middle], [], [oldest]], filter);
        }
      },
    );

    t.test('the delivery log and replays', async (t) => {
      const customer = await office.customer();
      const { api } = customer;
      const { id } = await make(api);
      await make(api, { name: 'second' });
      const webhook = await stored(office, customer);
      const states = ['delivered', 'failed', 'suppressed', 'waiting'] as const;
      const deliveries = Array.from({ length: 12 }, (_, n) => {
        const state = states[n % 4] ?? 'failed';
        const eventType = n < 8 ? 'message.sent' : 'message.read';
        const dueAt = state === 'waiting' ? 4e12 : null;
        // Some of the same time, so that the page must also go by the id.
        const createdAt = 1_000_000 + Math.floor(n / 3);
        const attempts = n === 7 ? 0 : 2;
        const subject = `msg_${webhook.id}_${n}`;
        return deliveryOf(webhook, n, { state, eventType, dueAt, createdAt, attempts, subject });
      });
      await office.run(async (unit) => {
        await unit.deliveries.add(deliveries);
        await unit.events.keep(
          deliveries.slice(1).map((one) => ({
            id: one.eventId,
            tenantId: one.tenantId,
            type: one.eventType,
            subject: one.subject,
            createdAt: one.createdAt,
            payload: `{"event":"${one.eventType}","n":"${one.id}"}`,
            trace: null,
          })),
        );
      });
      const newest = deliveries.map((one) => one.id).reverse();
      t.strictSame(
        (await logOf(api, id)).map((one) => one.id),
        newest,
      );
      const pages: string[] = [];
      let query = '?limit=5';
      let cursor = '';
      for (;;) {
        const page = bodyOf<Page>(await api.get(`/webhooks/${id}/deliveries${query}`));
        pages.push(...page.deliveries.map((one) => one.id));
        if (page.next_cursor === null) break;
        cursor = page.next_cursor;
        query = `?limit=5&before=${cursor}`;
      }
      t.strictSame(pages, newest, 'page by page');
      t.equal((await logOf(api, id, '?status=failed&event=message.read')).length, 1);
      t.strictSame(await logOf(api, 'second'), []);
      t.match(await api.get(`/webhooks/${id}/deliveries?limit=1`), {
        body: { backlog: { first_attempts: 1, oldest_at: '1970-01-01T00:16:40.002Z' } },
      });
      t.match(await api.get('/webhooks/second/deliveries'), {
        body: { backlog: { first_attempts: 0, oldest_at: null } },
      });
      t.match((await logOf(api, id, '?limit=1'))[0]?.payload, { n: newest[0] });
      t.equal((await logOf(api, id)).at(-1)?.payload, null, 'the event is no longer kept');
      const wrongCursor = { status: 400, body: { success: false, error_code: 'invalid_cursor' } };
      t.match(await api.get(`/webhooks/second/deliveries?before=${cursor}`), wrongCursor);
      const other = await office.customer();
      const theirs = await make(other.api);
      const foreign = `/webhooks/${theirs.id}/deliveries?before=${cursor}`;
      t.match(await other.api.get(foreign), wrongCursor);

      const replay = (n: number) =>
        api.post(`/webhooks/${id}/deliveries/${deliveries[n]?.id}/replay`);
      for (const [n, replayed] of [
        [0, true],
        [1, true],
        [2, true],
        [3, false],
      ] as const) {
        await office.run((unit) =>
          unit.receivers.release([{ receiverId: webhook.receiverId, dueAt: null }]),
        );
        const [answer, twin] = await Promise.all([replay(n), replay(n)]);
        t.match(answer, {
          status: 200,
          body: {
            success: true,
            webhook_id: id,
            delivery: {
              id: deliveries[n]?.id,
              status: 'waiting',
              next_attempt_at: time,
              attempt_count: 2,
            },
          },
        });
        t.equal(twin.status, 200);
        const [kept] = await office.cradle.storage.read.deliveries.byIds([deliveries[n]?.id ?? '']);
        t.match(kept, { state: 'waiting', replayed, attempts: 2 });
        t.ok(Math.abs((kept?.dueAt ?? 0) - Date.now()) < 60_000, 'due now');
        const [receiver] = await rows.rows<{ due_at: number }>(
          'select due_at from receivers where id = ?',
          [webhook.receiverId],
        );
        t.ok((receiver?.due_at ?? 4e12) <= Date.now() + 1000, 'and its receiver with it');
      }
      const unknown = { status: 404, body: { error_code: 'delivery_not_found' } };
      t.match(await api.post(`/webhooks/second/deliveries/${newest[0]}/replay`), unknown);
      const typeOff = { disabled: ['event:message.sent'] };
      await office.run((unit) => unit.tenants.change(customer.id, typeOff));
      const [before] = await office.cradle.storage.read.deliveries.byIds([deliveries[4]?.id ?? '']);
      t.match(await replay(4), {
        status: 400,
        body: {
          success: false,
          error_code: 'invalid_event_type',
          details: [{ path: 'path/deliveryId', message: /is of message\.sent, which is not/ }],
        },
      });
      const [after] = await office.cradle.storage.read.deliveries.byIds([deliveries[4]?.id ?? '']);
      t.strictSame(after, before, 'a type that is switched off is said, and nothing changed');
      await office.run((unit) => unit.tenants.change(customer.id, { disabled: [] }));
      const url = 'https://example.com/new-path';
      await api.put(`/webhooks/${id}`, { url });
      await replay(9);
      const [moved] = await office.cradle.storage.read.deliveries.byIds([deliveries[9]?.id ?? '']);
      t.equal(moved?.receiverId, receiverId(customer.id, url), 'a replay goes to the current URL');

      const contactId = `con_${webhook.id}`;
      await office.run(async (unit) => {
        const about = { id: deliveries[10]?.subject ?? '', tenantId: customer.id, contactId };
        await unit.messages.insert([{ ...dispatched, ...about, accountId: customer.id }]);
        await unit.contacts.insert([
          {
            ...{ id: contactId, tenantId: customer.id, channel: 'msgapp_web', createdAt: 1 },
            ...{ phone: null, networkId: null, name: '', nameSet: false, uncounted: false },
            ...{ doNotDisturb: false, private: true, automationPaused: false },
          },
        ]);
        const erasure = { id: contactId, tenantId: customer.id, contactId, address: null };
        await unit.erasures.begin(erasure, unit.now);
      });
      const erased = deliveries[10]?.id;
      const log = await logOf(api, id);
      t.equal(log.find((one) => one.id === erased)?.payload, null, 'nothing of an erased contact');
      t.match(log.find((one) => one.id === deliveries[9]?.id)?.payload, { n: deliveries[9]?.id });
      t.match(await replay(10), unknown);
    });

    t.test('the secret of the gateway is changed', story, async (t) => {
      const customer = await office.customer();
      const asked = await customer.api.post('/webhooks', {
        ...least,
        generate_signing_secret: true,
      });
      const { webhook, signing_secret } = bodyOf<{ webhook: ShownWebhook; signing_secret: string }>(
        asked,
        201,
      );
      const path = `/webhooks/${webhook.id}/signing-secret`;
      const next = randomSecret();
      const apiOf = async (env: Record<string, string>) =>
        (await openOffice(t, database.url, env)).clientOf(customer.key);
      const both = { GATEWAY_SECRET: next, GATEWAY_SECRET_PREVIOUS: env.GATEWAY_SECRET };
      const during = await apiOf(both);
      t.match((await during.get(path)).body, { signing_secret });
      const rotated = bodyOf<{ signing_secret: string }>(await during.post(path)).signing_secret;
      t.match((await during.get(path)).body, { signing_secret: rotated });
      await t.rejects(
        apiOf({ GATEWAY_SECRET: next }),
        /sealed with another secret/,
        'not resealed',
      );
    });
  });
}

interface Shown {
  readonly id: string;
  readonly payload: object | null;
}

interface Page {
  readonly deliveries: readonly Shown[];
  readonly next_cursor: string | null;
}

async function logOf(api: Client, id: string, query = ''): Promise<readonly Shown[]> {
  return bodyOf<Page>(await api.get(`/webhooks/${id}/deliveries${query}`)).deliveries;
}

/** What the specification says of the payload of each event type. */
function checkPayload(t: Test, event: string, payload: Record<string, unknown>): void {
  const isMessage = event.startsWith('message.');
  const fields = ['event', 'created_at', 'account_id', 'channel'];
  t.strictSame(Object.keys(payload), [
    ...fields,
    ...(isMessage ? ['message', 'contact'] : ['account']),
  ]);
  t.match(payload, { event, created_at: time });
  if (isMessage) {
    const status = event.slice('message.'.length);
    const { message, contact } = payload as { message: object; contact: object };
    t.strictSame(Object.keys(message), ['id', 'direction', 'text', 'media', 'status', 'error']);
    t.strictSame(Object.keys(contact), ['id', 'phone', 'name']);
    t.match(message, { status, direction: status === 'received' ? 'inbound' : 'outbound' });
    t.equal((message as { error: unknown }).error === null, status !== 'failed');
    return;
  }
  const { account } = payload as { account: Record<string, unknown> };
  t.strictSame(Object.keys(account), ['id', 'channel', 'identifier', 'status', 'reason']);
  const expected = {
    'account.connected': ['connected', null],
    'account.disconnected': ['disconnected', 'logged_out'],
    'account.restricted': ['restricted', 'blocked_by_msgapp'],
    'account.limit_reached': ['limited', 'daily_send_cap'],
  }[event];
  t.strictSame([account.status, account.reason], expected);
  const isOfTenant = event === 'account.limit_reached';
  t.equal(
    payload.account_id === null && account.id === null && account.identifier === null,
    isOfTenant,
  );
}
