import type { Test } from 'tap';
import type { Fleet, FleetTenant } from '../../harness/fleet.ts';
import {
  befall,
  bodyOf,
  connectionPath,
  type Family,
  logIn,
  messageOf,
  outbox,
  pair,
  phoneNumber,
  receive,
  sendAccepted,
  until,
  untilMessage,
  untilStatus,
} from '../../harness/story.ts';
import { accountEvents, recordedEvents } from '../recorded.ts';

const connected = 'account.connected connected null';
const disconnected = (reason: string) => `account.disconnected disconnected ${reason}`;

/** One account of one tenant, linked, with a friend who has written to it. */
interface Linked {
  readonly family: Family;
  readonly tenant: FleetTenant;
  readonly phone: string;
  readonly id: string;
  /** A contact that any family can send to. */
  readonly friend: { readonly account_id: string; readonly to: { readonly contact_id: string } };
  /** The account's events so far must be these. */
  raised(t: Test, what: string, ...events: readonly string[]): Promise<void>;
  /** The status in `GET /accounts`; undefined once removed. */
  listed(): Promise<string | undefined>;
  link(): Promise<string>;
}

interface Flow {
  readonly name: string;
  run(t: Test, account: Linked): Promise<void>;
}

async function restricted(t: Test, account: Linked): Promise<void> {
  const { family, phone, friend, tenant } = account;
  const { api } = tenant;
  const reason = `blocked_by_${family}`;
  const event = `account.restricted restricted ${reason}`;
  await befall(api, phone, { type: 'restrict' });
  t.equal((await untilStatus(api, family, phone, 'restricted')).reason, reason);
  t.equal(await account.listed(), 'restricted');
  const refused = await api.post('/messages', { ...friend, text: 'refused' });
  t.match(refused, { status: 409, body: { error_code: 'no_connected_account' } });
  await befall(api, phone, { type: 'restrict' });
  await befall(api, phone, { type: 'drop' });
  await receive(api, phone, { from: { phone: phoneNumber(900) }, text: 'still received' });
  t.equal(await account.listed(), 'restricted', 'a drop does not lift it');
  await account.raised(t, 'restricted once', connected, event);
  await befall(api, phone, { type: 'lift_restriction' });
  await untilStatus(api, family, phone, 'connected');
  await account.raised(t, 'and lifted', connected, event, connected);

  await befall(api, phone, { type: 'drop', for_ms: 60_000 });
  await untilStatus(api, family, phone, 'connecting');
  const waiting = await sendAccepted(api, friend);
  await befall(api, phone, { type: 'restrict', for_ms: 60_000 });
  await befall(api, phone, { type: 'drop' }); // ends the one before
  await untilStatus(api, family, phone, 'restricted');
  t.equal((await messageOf(api, waiting)).status, 'queued', 'what is queued waits');
  await befall(api, phone, { type: 'restrict', for_ms: 1_000 });
  await untilStatus(api, family, phone, 'connected');
  await untilMessage(api, waiting, 'read');
  const all = [connected, event, connected, event, connected];
  await account.raised(t, 'it ends by itself', ...all);

  await befall(api, phone, { type: 'restrict' });
  await untilStatus(api, family, phone, 'restricted');
  await befall(api, phone, { type: 'log_out' });
  await untilStatus(api, family, phone, 'disconnected');
  await account.raised(t, 'and then unlinked', ...all, event, disconnected('logged_out'));
}

async function restrictedForStrangers(t: Test, account: Linked): Promise<void> {
  const { family, phone, friend, tenant, id } = account;
  const { api } = tenant;
  await befall(api, phone, { type: 'restrict', scope: 'new_contacts' });
  await receive(api, phone, { from: { phone: phoneNumber(901) }, text: 'after the restriction' });
  const { reason } = await untilStatus(api, family, phone, 'connected');
  t.equal(reason, `blocked_by_${family}`, 'it says why');
  await untilMessage(api, await sendAccepted(api, friend), 'read');
  if (family === 'msgapp') {
    const opener = { account_id: id, to: { phone: phoneNumber(902) } };
    const { error } = await untilMessage(api, await sendAccepted(api, opener), 'failed');
    t.match(error, /^blocked_by_msgapp: ./, 'only openers fail');
    await befall(api, phone, { type: 'lift_restriction' });
    await receive(api, phone, { from: { phone: phoneNumber(903) }, text: 'after it was lifted' });
    await untilMessage(api, await sendAccepted(api, opener), 'read');
  }
  await account.raised(t, 'no event says so', connected);
}

async function dropped(t: Test, account: Linked): Promise<void> {
  const { family, phone, friend, tenant } = account;
  const { api } = tenant;
  const before = bodyOf<{ accounts: object[] }>(await api.get('/accounts'));
  await befall(api, phone, { type: 'drop', for_ms: 60_000 });
  await untilStatus(api, family, phone, 'connecting');
  await until('the list to say so', async () =>
    (await account.listed()) === 'connecting' ? true : undefined,
  );
  const waiting = await sendAccepted(api, friend);
  await befall(api, phone, { type: 'drop' }); // ends the one before
  await untilMessage(api, waiting, 'read');
  await untilStatus(api, family, phone, 'connected');
  await account.raised(t, 'a transient drop raises nothing', connected);
  const ofPhone = ({ accounts }: { accounts: object[] }) =>
    (accounts as { identifier: string; connected_at: string }[]).find(
      ({ identifier }) => identifier === phone,
    )?.connected_at;
  const after = bodyOf<{ accounts: object[] }>(await api.get('/accounts'));
  t.equal(ofPhone(after), ofPhone(before), 'connected_at is that of the connect');
}

/** Ends the link in one of the two ways of the network, with two messages on their way. */
async function ended(t: Test, account: Linked, type: 'log_out' | 'replace'): Promise<void> {
  const { family, phone, friend, tenant, id } = account;
  const { api } = tenant;
  const reason = type === 'log_out' ? 'logged_out' : 'replaced';
  await api.put(`/sandbox/phones/${phone}`, { send: 'hang' });
  const handed = await sendAccepted(api, friend);
  const behind = await sendAccepted(api, friend);
  await until('the network to have it', async () =>
    (await outbox(api, phone)).length === 1 ? true : undefined,
  );
  await befall(api, phone, { type });
  t.equal((await untilStatus(api, family, phone, 'disconnected')).reason, reason);
  t.equal(await account.listed(), 'disconnected');
  t.match((await untilMessage(api, handed, 'failed')).error, /^delivery_uncertain: ./);
  t.match((await untilMessage(api, behind, 'failed')).error, new RegExp(`^${reason}: .`));
  await account.raised(t, reason, connected, disconnected(reason));
  const refused = await api.post('/messages', { ...friend, text: 'refused' });
  t.match(refused, { status: 409, body: { error_code: 'no_connected_account' } });
  await api.put(`/sandbox/phones/${phone}`, { send: 'read' });
  t.equal(await account.link(), id, 'a connect keeps the id of a disconnected record');
  await account.raised(t, 'linked again', connected, disconnected(reason), connected);
  await untilMessage(api, await sendAccepted(api, friend), 'read');
}

async function forced(t: Test, account: Linked): Promise<void> {
  const { family, phone, tenant, id } = account;
  const { api } = tenant;
  const path =
    family === 'msgapp' ? '/channels/msgapp-web/connections' : '/channels/chatapp/connect';
  const again = await api.post(path, { phone_number: phone });
  t.match(again, { status: 409, body: { error_code: 'already_connected' } });
  await account.raised(t, 'refused', connected);
  const fresh = await api.post(path, { phone_number: phone, force_new: true });
  t.match(fresh, { status: 200, body: { account_id: id } });
  t.equal(await account.listed(), 'connecting');
  await account.raised(t, 'discarded', connected, disconnected('logged_out'));
  t.equal(await account.link(), id, 'an unfinished one is reset');
  await account.raised(t, 'anew', connected, disconnected('logged_out'), connected);
}

async function removed(t: Test, account: Linked): Promise<void> {
  const { family, phone, friend, tenant, id } = account;
  const { api } = tenant;
  const path = connectionPath(family, phone);
  await api.put(`/sandbox/phones/${phone}`, { send: 'hang' });
  await sendAccepted(api, friend);
  const behind = await sendAccepted(api, friend);
  t.strictSame((await api.delete(path.whole)).body, { phone_number: phone, status: 'removed' });
  for (const gone of [await api.delete(path.whole), await api.get(path.status)]) {
    t.match(gone, { status: 404, body: { error_code: 'connection_not_found' } });
  }
  t.equal(await account.listed(), undefined);
  const { error, account_id } = await untilMessage(api, behind, 'failed');
  t.match(error, /^removed: ./);
  t.equal(account_id, id, 'its messages stay');
  await account.raised(t, 'removed', connected, disconnected('removed'));
  const phoneNow = await api.get(`/sandbox/phones/${phone}`);
  t.equal(bodyOf<{ state: string }>(phoneNow).state, 'logged_out', 'the network was told');
  await api.put(`/sandbox/phones/${phone}`, { send: 'read' });
  const next = await account.link();
  t.not(next, id, 'a new record');
  const sent = await sendAccepted(api, { ...friend, account_id: next });
  await untilMessage(api, sent, 'read');
  await befall(api, phone, { type: 'log_out' });
  await untilStatus(api, family, phone, 'disconnected');
  await api.delete(path.whole);
  await account.raised(t, 'nothing more of the old one', connected, disconnected('removed'));
}

const flows: readonly Flow[] = [
  { name: 'restricted', run: restricted },
  { name: 'restricted for strangers', run: restrictedForStrangers },
  { name: 'dropped', run: dropped },
  { name: 'logged out', run: (t, account) => ended(t, account, 'log_out') },
  { name: 'replaced', run: (t, account) => ended(t, account, 'replace') },
  { name: 'force_new', run: forced },
  { name: 'removed', run: removed },
];

async function open(fleet: Fleet, tenant: FleetTenant, family: Family, n: number): Promise<Linked> {
  const { api } = tenant;
  const phone = phoneNumber((family === 'msgapp' ? 10 : 30) + n);
  const link = () => (family === 'msgapp' ? pair(api, phone) : logIn(api, phone));
  const id = await link();
  const from = { phone: phoneNumber(500 + n), name: 'Friend' };
  const { contact } = await receive(api, phone, { from, text: `hello ${family} ${n}` });
  return {
    ...{ family, tenant, phone, id, link },
    friend: { account_id: id, to: { contact_id: contact.id } },
    async raised(t, what, ...events) {
      t.strictSame(await accountEvents(fleet.rows, tenant.id, id), events, `${phone}: ${what}`);
    },
    async listed() {
      const { accounts } = bodyOf<{ accounts: { id: string; status: string }[] }>(
        await api.get('/accounts'),
      );
      return accounts.find((one) => one.id === id)?.status;
    },
  };
}

/** Every status of an account of these families, and the events of every move, each once. */
export async function accountStates(
  t: Test,
  fleet: Fleet,
  families: readonly Family[],
): Promise<void> {
  const tenant = await fleet.tenant('growth');
  for (const family of families) {
    for (const [n, { name, run }] of flows.entries()) {
      await t.test(`${family}: ${name}`, async (t) => {
        await run(t, await open(fleet, tenant, family, n));
      });
    }
  }
  const events = await recordedEvents(fleet.rows, tenant.id);
  for (const { type, subject, payload } of events.filter(({ type }) => /^account/.test(type))) {
    const { channel, account } = payload as { channel: string; account: object };
    const { identifier, status, reason } = account as Record<string, unknown>;
    t.strictSame(
      { ...payload, created_at: '' },
      {
        ...{ event: type, created_at: '', account_id: subject, channel },
        account: { id: subject, channel, identifier, status, reason },
      },
      `the payload of ${type}`,
    );
  }
}
