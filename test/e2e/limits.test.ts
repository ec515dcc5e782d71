import t, { type Test } from 'tap';
import { storyDatabases } from '../harness/databases.ts';
import { type Fleet, runFleet } from '../harness/fleet.ts';
import { awaitMidnight } from '../harness/midnight.ts';
import {
  befall,
  bodyOf,
  pair,
  phoneNumber,
  receive,
  sendAccepted,
  untilMessage,
  untilStatus,
} from '../harness/story.ts';
import { accountEvents, recordedEvents } from './recorded.ts';

const plan = { sends_cap: 4, new_contacts_cap: 3, accounts_cap: 10, ramp_days: 0 };
const settings = {
  GATEWAY_PLANS__TINY: JSON.stringify(plan),
  GATEWAY_LIMITS__OPENER_BURST__OPENERS: '3',
  GATEWAY_LIMITS__OPENER_BURST__WINDOW_S: '600',
  GATEWAY_LIMITS__SAFETY__REFUSALS: '3',
  GATEWAY_LIMITS__SAFETY__HOLD_S: '15',
};
const phone = phoneNumber(1);

/** Openers that are refused again and again stop the account, until the hold is over. */
async function safety(t: Test, fleet: Fleet): Promise<void> {
  const { id: tenantId, api, clients } = await fleet.tenant('growth');
  const account = await pair(api, phone);
  const friend = { from: { phone: phoneNumber(101) }, text: 'hello' };
  const { contact } = await receive(api, phone, friend);
  const opener = (n: number) => ({ to: { phone: phoneNumber(200 + n) }, text: 'opener' });
  for (const n of [1, 2, 3]) await untilMessage(api, await sendAccepted(api, opener(n)), 'read');
  for (const n of [4, 5, 6]) {
    const refused = await (clients[n % clients.length] ?? api).post('/messages', opener(n));
    t.match(refused, { status: 429, body: { error_code: 'opener_burst' } });
  }
  const status = await untilStatus(api, 'msgapp', phone, 'restricted');
  t.equal(status.reason, 'safety_limits');
  const answer = { to: { contact_id: contact.id }, text: 'answer' };
  const refused = await api.post('/messages', answer);
  t.match(refused, { status: 409, body: { error_code: 'no_connected_account' } });
  await befall(api, phone, { type: 'restrict', scope: 'new_contacts' });
  await befall(api, phone, { type: 'lift_restriction' });
  await receive(api, phone, { ...friend, text: 'after the network lifted its own' });
  const restricted = [
    'account.connected connected null',
    'account.restricted restricted safety_limits',
  ];
  t.strictSame(await accountEvents(fleet.rows, tenantId, account), restricted, 'ours stays');
  await untilStatus(api, 'msgapp', phone, 'connected');
  t.strictSame(await accountEvents(fleet.rows, tenantId, account), [
    ...[...restricted, 'account.connected connected null'],
  ]);
  await untilMessage(api, await sendAccepted(api, answer), 'read');
}

/** What a daily cap says, shows and raises. */
async function caps(t: Test, fleet: Fleet): Promise<void> {
  await awaitMidnight();
  const { id: tenantId, api } = await fleet.tenant('tiny');
  const accounts = [await pair(api, phone), await pair(api, phoneNumber(2))];
  const send = (n: number, account = 0) => ({
    ...{ account_id: accounts[account], to: { phone: phoneNumber(300 + n) }, text: 'x' },
  });
  for (const n of [1, 2]) await sendAccepted(api, send(n));
  await sendAccepted(api, send(3, 1));
  const refused = async (code: string, body: object): Promise<void> => {
    t.match(await api.post('/messages', body), { status: 429, body: { error_code: code } });
  };
  await refused('new_contact_cap', send(4));
  await refused('new_contact_cap', send(5, 1));
  await sendAccepted(api, send(1));
  await refused('daily_send_cap', send(1));
  await refused('daily_send_cap', send(6));
  const day = new Date().toISOString().slice(0, 10);
  t.strictSame((await api.get('/usage')).body, {
    ...{ plan: 'tiny', status: 'active', day, sends: 4, sends_cap: 4 },
    ...{ new_contacts: 3, new_contacts_cap: 3 },
    ...{ accounts_total: 2, accounts_connected: 2, accounts_cap: 10 },
  });
  const listed = bodyOf<{ accounts: { limits: object; ramp_day: null }[] }>(
    await api.get('/accounts'),
  );
  const of = (sends: number, new_contacts: number) => ({
    limits: { sends, sends_cap: 4, new_contacts, new_contacts_cap: 3 },
    ramp_day: null,
  });
  t.strictSame(
    listed.accounts.map(({ limits, ramp_day }) => ({ limits, ramp_day })),
    [of(3, 2), of(1, 1)],
    'oldest first',
  );
  const events = await recordedEvents(fleet.rows, tenantId, tenantId);
  t.strictSame(
    events.map(({ payload }) => ({ ...payload, created_at: '' })),
    ['new_contact_cap', 'daily_send_cap'].map((reason) => ({
      ...{ event: 'account.limit_reached', created_at: '', account_id: null, channel: null },
      account: { id: null, channel: null, identifier: null, status: 'limited', reason },
    })),
    'one event for each reason',
  );
}

for (const engine of storyDatabases('mariadb')) {
  t.test(`limits, ${engine.name}`, async (t) => {
    const fleet = await runFleet(t, engine, settings);
    await t.test('safety', (t) => safety(t, fleet));
    await t.test('caps', (t) => caps(t, fleet));
  });
}
