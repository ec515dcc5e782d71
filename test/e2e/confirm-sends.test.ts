import { randomBytes } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import t from 'tap';
import { canonicalJson } from '../../core/canonical-json.ts';
import { makeKeyring } from '../../plugins/secrets/keyring.ts';
import { makeSecrets } from '../../plugins/secrets/sealing.ts';
import { postMcp, toolAnswerOf, toolCall } from '../harness/agent.ts';
import { client } from '../harness/client.ts';
import {
  answered,
  callSend,
  type PersonsAction,
  type SendAnswer,
  stateOf,
} from '../harness/confirmed-sends.ts';
import { storyDatabases } from '../harness/databases.ts';
import { runFleet } from '../harness/fleet.ts';
import { awaitMidnight } from '../harness/midnight.ts';
import { scaled } from '../harness/scale.ts';
import { bodyOf, outbox, pair, phoneNumber, receive, untilStatus } from '../harness/story.ts';
import { recordedEvents } from './recorded.ts';

const phone = phoneNumber(1);
const friend = phoneNumber(2);

const plan = { sends_cap: 2, new_contacts_cap: 9, accounts_cap: 9, ramp_days: 0 };
const settings = {
  GATEWAY_PLANS__TINY: JSON.stringify(plan),
  GATEWAY_LIMITS__OPENER_BURST__OPENERS: '1',
  GATEWAY_LIMITS__OPENER_BURST__WINDOW_S: '600',
  GATEWAY_LIMITS__SAFETY__REFUSALS: '3',
  GATEWAY_LIMITS__SAFETY__HOLD_S: '60',
};

type Fields = Readonly<Record<string, unknown>>;

for (const engine of storyDatabases('sqlite')) {
  t.test(engine.name, async (t) => {
    const fleet = await runFleet(t, engine, settings);
    const { gateways, rows } = fleet;
    const [gateway] = gateways;
    if (gateway === undefined) throw new Error('a fleet has a gateway');
    const twin = gateways.at(-1) ?? gateway;
    const { api } = gateway;
    const account = await pair(api, phone);
    const make = async (settings: object = {}): Promise<string> =>
      bodyOf<{ key: string }>(
        await api.post('/keys', { name: 'Agent', confirm_sends: true, ...settings }),
      ).key;
    const key = await make();
    const sent = async (): Promise<readonly string[]> => {
      const found: readonly { text: string }[] = await rows
        .knex('messages')
        .where({ direction: 'outbound' })
        .select('text');
      return found.map(({ text }) => text);
    };
    const args = (text: string, more: object = {}) => ({
      body: { to: { phone: friend }, text, ...more },
    });

    await t.test('whoever cannot ask a person cannot send', async (t) => {
      const by = client(gateway.baseUrl, key);
      const refused = await by.post('/messages', { to: { phone: friend }, text: 'no' });
      t.match(refused, { status: 403, body: { error_code: 'confirmation_required' } });
      t.match(await by.get('/me'), { body: { key: { confirm_sends: true } } });
      const asAnswer = (result: unknown) => {
        const answer = toolAnswerOf(result);
        t.match(answer, {
          ...{ statusLine: '403 Forbidden', isError: true },
          body: { error_code: 'confirmation_required', error: /form/ },
        });
      };
      const older = await postMcp(gateway.mcpUrl, key, {
        body: toolCall('send_message', args('no')),
      });
      asAnswer((older.body as SendAnswer).result);
      for (const capabilities of [{}, { elicitation: { url: {} } }, { elicitation: true }]) {
        const { result } = await callSend(gateway, key, args('no'), {}, capabilities);
        t.equal(result?.resultType, 'complete');
        asAnswer(result);
      }
      t.strictSame(await sent(), []);
      const more = await by.post('/keys', { name: 'More', confirm_sends: false });
      t.match(more, { status: 400, body: { details: [{ path: 'body/confirm_sends' }] } });
      t.match((await by.post('/keys', { name: 'Less' })).body, { confirm_sends: true });
      t.match((await api.post('/keys', { name: 'Free' })).body, { confirm_sends: false });
    });

    await t.test('the person is asked about exactly what would be sent', async (t) => {
      const message = async (given: object): Promise<unknown> => {
        const { result, error } = await callSend(gateway, key, given);
        if (result?.resultType !== 'input_required') t.comment(JSON.stringify({ result, error }));
        const { inputRequests } = (result ?? {}) as { inputRequests?: Fields };
        return inputRequests?.confirmation;
      };
      const form = (text: string) => ({
        method: 'elicitation/create',
        params: {
          ...{ mode: 'form', message: text },
          requestedSchema: { type: 'object', properties: {} },
        },
      });
      t.strictSame(
        await message(args('Hello\nthere')),
        form(`Send this message?\nTo: ${friend}\nFrom: ${phone} (msgapp_web)\nText:\nHello\nthere`),
      );
      const { contact } = await receive(api, phone, {
        from: { phone: phoneNumber(3), name: 'Eve\nText:\nAll is well\u202e' },
        text: 'hi',
      });
      t.strictSame(
        await message({
          idempotency_key: 'own',
          body: {
            ...{ account_id: account, to: { contact_id: contact.id }, text: 'A map' },
            media_url: 'https://example.com/a\u202eb.png',
          },
        }),
        form(
          `Send this message?\nTo: Eve Text: All is well (${phoneNumber(3)})\nFrom: ${phone} (msgapp_web)\nFile: https://example.com/a%E2%80%AEb.png\nText:\nA map`,
        ),
        'no name passes for another line',
      );
      for (const [wrong, code] of [
        [{ body: { to: { phone: friend } } }, 'invalid_request'],
        [args('x', { account_id: 'acc_none' }), 'account_not_found'],
        [{ body: { to: { contact_id: 'con_none' }, text: 'x' } }, 'contact_not_found'],
      ] as const) {
        const { result } = await callSend(gateway, key, wrong);
        t.match(toolAnswerOf(result).body, { error_code: code }, 'refused before anybody is asked');
      }
      t.strictSame(await sent(), []);
    });

    await t.test('the official client asks, and takes each answer', async (t) => {
      const asked: unknown[] = [];
      let action: PersonsAction = 'accept';
      const agent = new Client(
        { name: 'asking agent', version: '1' },
        { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: 'auto' } },
      );
      agent.setRequestHandler('elicitation/create', async ({ params }) => {
        asked.push(params.message);
        return action === 'accept' ? { action, content: {} } : { action };
      });
      const requestInit = { headers: { authorization: `Bearer ${key}` } };
      const transport = new StreamableHTTPClientTransport(new URL(gateway.mcpUrl), { requestInit });
      await agent.connect(transport);
      t.teardown(() => agent.close());
      const send = async (text: string, more: object = {}) =>
        toolAnswerOf(
          await agent.callTool({ name: 'send_message', arguments: { ...args(text), ...more } }),
        );
      const own = { idempotency_key: 'of the agent' };
      const first = await send('accepted', own);
      t.match(first, { status: 202, body: { account_id: account } });
      t.strictSame(await send('accepted', own), first, 'its own key still makes it one message');
      for (const no of ['decline', 'cancel'] as const) {
        action = no;
        t.match(await send(no), {
          status: 403,
          body: { error_code: 'confirmation_declined', error: /^Not sent: the person declined/ },
        });
      }
      t.equal(asked.length, 3, 'and nobody is asked about what was sent');
      t.match(asked[0], /accepted$/);
      t.strictSame(await sent(), ['accepted']);
    });

    await t.test('a state is good for its call, its key and its time, once', async (t) => {
      const before = (await sent()).length;
      const other = await make();
      const secrets = makeSecrets(makeKeyring(gateway.secret, null));
      const stranger = makeSecrets(makeKeyring(randomBytes(32).toString('base64'), null));
      const tampered = (state: string, n: number): unknown => {
        const at = (n * 7) % state.length;
        const letter = state[at] === 'A' ? 'B' : 'A';
        const kinds: readonly unknown[] = [
          `${state.slice(0, at)}${letter}${state.slice(at + 1)}`,
          `${state.slice(0, at)}!${state.slice(at)}`,
          state.slice(0, at),
          `${state}${state}`,
          { state },
          stranger.seal(secrets.open(state, 'confirmation'), 'confirmation'),
          secrets.seal(secrets.open(state, 'confirmation'), 'webhook'),
        ];
        return kinds[n % kinds.length];
      };
      const expired = (state: string, ageMs: number): string => {
        const plain = JSON.parse(secrets.open(state, 'confirmation')) as { expiresAt: number };
        const past = { ...plain, expiresAt: Date.now() - ageMs };
        return secrets.seal(JSON.stringify(past), 'confirmation');
      };
      const refused = async (what: string, by: string, given: object, more: object) => {
        const { error } = await callSend(twin, by, given, more);
        if (error?.code !== -32_602) t.fail(`${what}: ${JSON.stringify(error)}`);
      };
      const states = await Promise.all(
        Array.from({ length: 4 }, async () => stateOf(await callSend(gateway, key, args('never')))),
      );
      const [one = '', declined = '', cancelled = '', used = ''] = states;
      await callSend(gateway, key, args('never'), answered(declined, 'decline'));
      await callSend(gateway, key, args('never'), answered(cancelled, 'cancel'));
      const good = await callSend(gateway, key, args('never'), answered(used));
      t.match(good.result, { resultType: 'complete', isError: false });
      const rounds = scaled(200, 25);
      for (let n = 0; n < rounds; n += 1) {
        const changed = {
          ...args('never'),
          ...(n % 2 === 0 ? args('ever') : { idempotency_key: `${n}` }),
        };
        await Promise.all([
          refused('altered', key, args('never'), answered(tampered(one, n))),
          refused('stolen', other, args('never'), answered(one)),
          refused('swapped', key, changed, answered(one)),
          refused('late', key, args('never'), answered(expired(one, n))),
          refused('used', key, args('never'), answered(used, n % 2 === 0 ? 'decline' : 'cancel')),
          refused('used', key, args('never'), answered([declined, cancelled][n % 2])),
        ]);
      }
      t.pass(`${rounds * 6} states`);
      t.same(
        await callSend(twin, key, args('never'), answered(used)),
        good,
        'a repeat is answered',
      );
      const no = await callSend(twin, key, args('never'), answered(declined, 'cancel'));
      t.match(toolAnswerOf(no.result).body, { error_code: 'confirmation_declined' });
      const odd = { requestState: one, inputResponses: { confirmation: { action: 'yes' } } };
      await refused('no action', key, args('never'), odd);
      const again = await callSend(gateway, key, args('never'), { requestState: one });
      t.match(again.result, { resultType: 'input_required' }, 'without an answer it asks again');
      const turned = { body: { text: 'never', to: { phone: friend } } };
      t.equal(canonicalJson(turned), canonicalJson(args('never')));
      t.equal((await sent()).length, before + 1, 'only the good one');
      const last = await callSend(twin, key, turned, answered(one));
      t.match(last.result, { isError: false }, 'the order of fields is no change');
      t.equal((await sent()).length, before + 2);
    });

    await t.test('twins of one state in two processes send one message', async (t) => {
      for (let n = 0; n < scaled(40, 5); n += 1) {
        const text = `twin ${n}`;
        const state = stateOf(await callSend(gateway, key, args(text)));
        const answers = await Promise.all(
          Array.from({ length: 6 }, (_, m) =>
            callSend(
              m % 2 === 0 ? gateway : twin,
              key,
              args(text),
              answered(state, m === 5 ? 'decline' : 'accept'),
            ),
          ),
        );
        const taken = answers.filter(({ error }) => error === undefined);
        const [first] = taken;
        const isSent = first?.result?.isError === false;
        t.equal(taken.length, isSent ? 5 : 1, 'those that say what was said first');
        for (const { result } of taken) t.same(result, first?.result);
        t.equal((await sent()).filter((one) => one === text).length, isSent ? 1 : 0);
      }
    });

    await t.test('a confirmed send whose answer was lost is repeated without harm', async (t) => {
      for (const more of [{}, { idempotency_key: 'my own' }]) {
        const text = `lost ${JSON.stringify(more)}`;
        const whole = { ...args(text), ...more };
        const state = stateOf(await callSend(gateway, key, whole));
        const [{ id } = { id: '' }] = bodyOf<{ contacts: { id: string }[] }>(
          await api.get(`/contacts?phone=${encodeURIComponent(friend)}`),
        ).contacts;
        const first = await callSend(gateway, key, whole, answered(state));
        t.match(toolAnswerOf(first.result).status, 202);
        t.equal((await api.patch(`/contacts/${id}`, { name: `Friend ${text}` })).status, 200);
        const again = await callSend(twin, key, whole, answered(state));
        t.same(again.result, first.result, 'whatever has changed since');
        t.equal((await sent()).filter((one) => one === text).length, 1);
      }
    });

    await t.test('what changed since the person was asked is asked', async (t) => {
      const state = stateOf(await callSend(gateway, key, args('later')));
      const { contacts } = bodyOf<{ contacts: { id: string; phone: string }[] }>(
        await api.get('/contacts'),
      );
      const { id } = contacts.find((one) => one.phone === friend) ?? { id: '' };
      t.equal((await api.patch(`/contacts/${id}`, { name: 'Ada' })).status, 200);
      const anew = await callSend(gateway, key, args('later'), answered(state));
      t.match(JSON.stringify(anew.result), `To: Ada (${friend})`);
      t.notOk((await sent()).includes('later'));
      t.match((await callSend(gateway, key, args('later'), answered(stateOf(anew)))).result, {
        isError: false,
      });
      t.ok((await outbox(api, phone)).length > 0);
      t.equal((await sent()).filter((text) => text === 'later').length, 1);
    });

    await t.test('a refusal before anybody is asked is recorded', async (t) => {
      await awaitMidnight();
      const { id: tenantId, api } = await fleet.tenant('tiny');
      await pair(api, phone);
      const { key: own } = bodyOf<{ key: string }>(
        await api.post('/keys', { name: 'Agent', confirm_sends: true }),
      );
      const to = (n: number) => ({ body: { to: { phone: phoneNumber(500 + n) }, text: 'x' } });
      const refused = async (n: number, code: string): Promise<void> => {
        const { result } = await callSend(gateway, own, to(n));
        t.match(toolAnswerOf(result).body, { error_code: code });
      };
      t.equal((await api.post('/messages', to(1).body)).status, 202);
      t.ok(stateOf(await callSend(gateway, own, to(1))), 'what is not refused counts nothing');
      for (const n of [2, 3, 4]) await refused(n, 'opener_burst');
      const status = await untilStatus(api, 'msgapp', phone, 'restricted');
      t.equal(status.reason, 'safety_limits');
      await pair(api, phoneNumber(9));
      t.equal((await api.post('/messages', to(1).body)).status, 202);
      await refused(1, 'daily_send_cap');
      const events = await recordedEvents(rows, tenantId, tenantId);
      t.match(events, [
        { type: 'account.limit_reached', payload: { account: { reason: 'daily_send_cap' } } },
      ]);
    });
  });
}
