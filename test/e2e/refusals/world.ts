import type { Test } from 'tap';
import type { Executor } from '../../../plugins/storage/executor.ts';
import { type RunningGateway, runGateway } from '../../harness/gateway.ts';
import { awaitMidnight } from '../../harness/midnight.ts';
import { prismProxy } from '../../harness/prism-proxy.ts';
import { openRows } from '../../harness/rows.ts';
import {
  bodyOf,
  commandLine,
  logIn,
  pair,
  phoneNumber,
  receive,
  sendAccepted,
  untilMessage,
} from '../../harness/story.ts';
import { beside } from '../beside.ts';
import type { Asker } from './refusal.ts';

const caps = { sends_cap: 1000, new_contacts_cap: 1000, accounts_cap: 100, ramp_days: 0 };

/** Small numbers, so that a test meets them after a few requests. */
const settings = {
  GATEWAY_PLANS__SMALL: JSON.stringify({
    ...caps,
    sends_cap: 2,
    new_contacts_cap: 1,
    accounts_cap: 1,
  }),
  GATEWAY_PLANS__BARE: JSON.stringify({ ...caps, channels: false, webhooks: false }),
  GATEWAY_LIMITS__LOOP_GUARD__MESSAGES: '2',
  GATEWAY_LIMITS__LOOP_GUARD__WINDOW_S: '300',
  GATEWAY_LIMITS__OPENER_BURST__OPENERS: '3',
  GATEWAY_LIMITS__OPENER_BURST__WINDOW_S: '300',
  GATEWAY_WEBHOOKS__ALLOW_HTTP: 'false',
  // Live tenants have no channel here.
  GATEWAY_CHANNELS__MSGAPP_WEB__DRIVER: 'missing',
  GATEWAY_CHANNELS__CHATAPP__DRIVER: 'missing',
};

/** The people and accounts of the main tenant. */
export const numbers = {
  msgapp: phoneNumber(1),
  chatapp: phoneNumber(2),
  pairing: phoneNumber(3),
  loggingIn: phoneNumber(4),
  byCode: phoneNumber(5),
  expired: phoneNumber(6),
  ended: phoneNumber(7),
  restricted: phoneNumber(8),
  unknown: phoneNumber(9),
  ada: phoneNumber(101),
  quiet: phoneNumber(102),
  secret: phoneNumber(103),
  cleo: phoneNumber(104),
} as const;

/** A gateway with a tenant for each kind of refusal, made beside it as the command line does. */
export interface RefusalWorld {
  readonly gateway: RunningGateway;
  readonly rows: Executor;
  /** Everything connected: `accounts` and `contacts` by the names in `numbers`. */
  readonly main: Asker;
  readonly accounts: Readonly<
    Record<'msgapp' | 'chatapp' | 'pairing' | 'ended' | 'restricted', string>
  >;
  readonly contacts: Readonly<Record<'ada' | 'quiet' | 'secret' | 'cleo', string>>;
  /** Has no account and nothing else. */
  readonly empty: Asker;
  /** May have one account, two sends and one new contact; one of each is used up. */
  readonly small: Asker;
  /** Has met the loop guard with `ada` and the opener burst. */
  readonly guarded: Asker;
  /** Its plan has neither channels nor webhooks. */
  readonly bare: Asker;
  /** Every feature is switched off. */
  readonly switchedOff: Asker;
  readonly suspended: Asker;
  readonly live: Asker;
  /** Runs `main.ts` with these arguments and `--json`, as a process of its own. */
  commandLine<Json>(args: readonly string[]): Promise<Json>;
}

/** Builds the world. */
export async function refusalWorld(t: Test): Promise<RefusalWorld> {
  const gateway = await runGateway(t, { databaseUrl: null, settings, front: prismProxy });
  const rows = openRows(t, `sqlite:${gateway.dataDir}/gateway.db`);
  const { make, update } = beside(gateway, settings);
  const main = await make('growth');
  const empty = await make('growth');
  const small = await make('small');
  const guarded = await make('growth');
  const bare = await make('bare');
  const live = await make('growth', 'live');
  const switchedOff = await make('growth');
  await update(switchedOff, 'active', ['api', 'msgapp_web', 'chatapp']);
  const suspended = await make('growth');
  await update(suspended, 'suspended', []);
  // Until the refusals of the daily caps, which count what it sends.
  await awaitMidnight();
  await fill(small);
  await arouse(guarded);
  return {
    gateway,
    rows,
    main,
    ...(await furnish(main)),
    ...{ empty, small, guarded, bare, switchedOff, suspended, live },
    commandLine: (args) => commandLine(t, gateway, args, settings),
  };
}

async function furnish({ api }: Asker): Promise<Pick<RefusalWorld, 'accounts' | 'contacts'>> {
  const connect = async (phone_number: string, more: object = {}): Promise<string> => {
    const path = '/channels/msgapp-web/connections';
    return bodyOf<{ account_id: string }>(await api.post(path, { phone_number, ...more }))
      .account_id;
  };
  const accounts = {
    ended: await pair(api, numbers.ended),
    restricted: await pair(api, numbers.restricted),
    msgapp: await pair(api, numbers.msgapp),
    chatapp: await logIn(api, numbers.chatapp, 'correct horse'),
    pairing: await connect(numbers.pairing),
  };
  await connect(numbers.byCode, { link_method: 'pairing_code' });
  await connect(numbers.expired);
  await api.post('/channels/chatapp/connect', { phone_number: numbers.loggingIn });
  const event = (phone: string, type: string) =>
    api.post(`/sandbox/phones/${phone}/events`, { type });
  await event(numbers.ended, 'log_out');
  await event(numbers.restricted, 'restrict');
  await event(numbers.expired, 'expire_qr');
  const meet = async (phone: string, from: string): Promise<string> =>
    (await receive(api, phone, { from: { phone: from }, text: 'hello' })).contact.id;
  const contacts = {
    ada: await meet(numbers.msgapp, numbers.ada),
    quiet: await meet(numbers.msgapp, numbers.quiet),
    secret: await meet(numbers.msgapp, numbers.secret),
    cleo: await meet(numbers.chatapp, numbers.cleo),
  };
  await api.patch(`/contacts/${contacts.quiet}`, { do_not_disturb: true });
  await api.patch(`/contacts/${contacts.secret}`, { private: true });
  const to = { contact_id: contacts.ada };
  const { msgapp: account_id } = accounts;
  const keyed = { account_id, to, text: 'once' };
  const sent = await api.post('/messages', keyed, { 'idempotency-key': 'taken' });
  await untilMessage(api, bodyOf<{ id: string }>(sent).id, 'read');
  return { accounts, contacts };
}

async function fill({ api }: Asker): Promise<void> {
  await pair(api, numbers.msgapp);
  const first = await sendAccepted(api, { to: { phone: numbers.ada } });
  await untilMessage(api, first, 'read');
}

async function arouse({ api }: Asker): Promise<void> {
  await pair(api, numbers.msgapp);
  const ids: string[] = [];
  for (const phone of [201, 202, 203].map(phoneNumber)) {
    ids.push(await sendAccepted(api, { to: { phone } }));
  }
  for (const text of ['one', 'two']) {
    await receive(api, numbers.msgapp, { from: { phone: numbers.ada }, text });
    ids.push(await sendAccepted(api, { to: { phone: numbers.ada } }));
  }
  for (const id of ids) await untilMessage(api, id, 'read');
}
