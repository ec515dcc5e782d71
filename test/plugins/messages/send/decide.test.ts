import t from 'tap';
import { GatewayError } from '../../../../core/errors.ts';
import type { Contact } from '../../../../plugins/contacts/contract.ts';
import { guardSettings, makeLimitRules } from '../../../../plugins/limits/rules.ts';
import { answerKey, enterNames, type SendBatch } from '../../../../plugins/messages/send/batch.ts';
import { sendingChannel } from '../../../../plugins/messages/send/choose.ts';
import { decideSend } from '../../../../plugins/messages/send/decide.ts';
import type {
  SendDecision,
  SendInput,
  SendRules,
} from '../../../../plugins/messages/send/input.ts';
import { enterIntents, idleSessions } from '../../../../plugins/messages/send/intents.ts';
import { sendInput } from '../../../../plugins/messages/send/request.ts';
import type {
  SendingAccount,
  SendingTenant,
} from '../../../../plugins/messages/tables/sending-rows.ts';
import { threadKey } from '../../../../plugins/messages/tables/threads.ts';

const now = Date.parse('2026-03-10T23:00:00.000Z');

const rules: SendRules = {
  limits: makeLimitRules(
    guardSettings({
      loop_guard: { messages: 10, window_s: 60 },
      opener_burst: { openers: 5, window_s: 60 },
      safety: { refusals: 2, window_s: 600, hold_s: 3600 },
    }),
    () => ({ sends_cap: 50, new_contacts_cap: 10, ramp_days: 14 }),
  ),
  idempotencyMs: 86_400_000,
  channel: (channel) => ({
    recipients: channel === 'msgapp_web' ? 'phone' : channel === 'irc' ? 'address' : 'contacts',
    maxText: channel === 'irc' ? 6 : null,
    address: 'a nickname',
  }),
  newContactId: () => 'con_new',
};

const tenant: SendingTenant = {
  id: 'ten_1',
  mode: 'live',
  plan: 'p',
  status: 'active',
  ramp: false,
};
const connected: SendingAccount = {
  id: 'acc_1',
  tenantId: 'ten_1',
  channel: 'msgapp_web',
  status: 'connected',
  linked: true,
  restrictedUntil: null,
  rampDayOne: null,
  sequence: 0,
};
const ada: Contact = {
  id: 'con_ada',
  tenantId: 'ten_1',
  channel: 'msgapp_web',
  phone: '+12025550123',
  networkId: null,
  name: 'Ada',
  nameSet: false,
  doNotDisturb: false,
  private: false,
  automationPaused: false,
  uncounted: false,
  createdAt: 0,
};
const toAda: SendInput = {
  id: 'msg_1',
  tenantId: 'ten_1',
  accountId: null,
  accountIds: null,
  isStranger: false,
  contactId: null,
  phone: '+12025550123',
  addresses: null,
  addressFaults: new Map(),
  text: 'Hello',
  media: null,
  trace: null,
  idempotency: null,
};
const toStranger: SendInput = { ...toAda, phone: '+12025550199' };
const times = (count: number, ago = 1000) => Array.from({ length: count }, () => now - ago);

interface Facts {
  readonly tenant?: Partial<SendingTenant>;
  readonly accounts?: readonly SendingAccount[];
  readonly contacts?: readonly Contact[];
  readonly openers?: number;
  readonly loop?: readonly [number, number];
  readonly tenantCount?: readonly [number, number];
  readonly accountCount?: readonly [number, number];
}

/** A batch as the load step makes it, with Ada as an old friend of the account. */
function batchOf(facts: Facts = {}): SendBatch {
  const contacts = facts.contacts ?? [ada];
  const counts = ([sends, newContacts]: readonly [number, number]) => ({ sends, newContacts });
  const contactsByName = new Map<string, string>();
  for (const contact of contacts) enterNames(contactsByName, contact);
  return {
    now,
    isRepeat: false,
    tenants: new Map([['ten_1', { ...tenant, ...facts.tenant }]]),
    accounts: new Map((facts.accounts ?? [connected]).map((account) => [account.id, account])),
    contacts: new Map(contacts.map((contact) => [contact.id, contact])),
    aliases: new Map(),
    contactsByName,
    threads: new Set(['acc_1', 'acc_2'].map((accountId) => threadKey(accountId, ada.id))),
    openers: new Map([['acc_1', times(facts.openers ?? 0)]]),
    refusedOpeners: new Map(),
    outbound: new Map([[ada.id, times(facts.loop?.[0] ?? 0)]]),
    inbound: new Map([[ada.id, times(facts.loop?.[1] ?? 0, 20_000)]]),
    counts: new Map([
      ['ten_1', counts(facts.tenantCount ?? [0, 0])],
      ['acc_1', counts(facts.accountCount ?? [0, 0])],
    ]),
    keys: new Map(),
    newContacts: [],
    counted: [],
    newThreads: new Map(),
    newMessages: [],
    sequences: new Map(),
    newCounts: new Map(),
    newNotices: new Map(),
    newKeys: [],
    newRefusals: [],
    holds: new Map(),
  };
}

function outcome(decision: SendDecision): readonly [string, number?, number?] {
  if ('accepted' in decision) return [`accepted by ${decision.accepted.account_id}`];
  const { code, status, retryAfterS } = decision.refused;
  return retryAfterS === undefined ? [code, status] : [code, status, retryAfterS];
}

const second: SendingAccount = { ...connected, id: 'acc_2' };
const as = (account: SendingAccount, changes: Partial<SendingAccount>): SendingAccount => ({
  ...account,
  ...changes,
});
const reconnecting = as(connected, { status: 'connecting' });
const pairing = as(connected, { status: 'connecting', linked: false });
const restricted = as(connected, { status: 'restricted' });
const gone = as(connected, { status: 'disconnected' });
const chat = as(connected, { channel: 'chatapp' });
const foreign = as(connected, { tenantId: 'ten_2' });
const named: SendInput = { ...toAda, accountId: 'acc_1' };
const byId: SendInput = { ...toAda, phone: null, contactId: 'con_ada' };
const ramped = as(connected, { rampDayOne: '2026-03-10' });

const irc = (contacts: readonly Contact[]): Facts => ({
  accounts: [as(connected, { channel: 'irc' })],
  contacts,
});
const onIrc = irc([]);
const ben: Contact = { ...ada, id: 'con_ben', channel: 'irc', phone: null, networkId: 'ben' };
const failed = (channel: string) => new Map([[channel, new GatewayError('driver_failed')]]);
const toBen: SendInput = { ...toAda, phone: null, addresses: new Map([['irc', 'ben']]) };
const used: Facts = { tenantCount: [49, 10] };

type Row = readonly [string, Facts, SendInput, readonly [string, number?, number?]];

const table: readonly Row[] = [
  ['the only connected account', {}, toAda, ['accepted by acc_1']],
  ['suspended', { tenant: { status: 'suspended' } }, toAda, ['account_suspended', 403]],
  // account
  ['named and unknown', { accounts: [] }, named, ['account_not_found', 404]],
  ["another tenant's", { accounts: [foreign] }, named, ['account_not_found', 404]],
  ['named and reconnecting', { accounts: [reconnecting] }, named, ['accepted by acc_1']],
  ['named and pairing', { accounts: [pairing] }, named, ['no_connected_account', 409]],
  ['named and restricted', { accounts: [restricted] }, named, ['no_connected_account', 409]],
  ['named and disconnected', { accounts: [gone] }, named, ['no_connected_account', 409]],
  ['named beside another', { accounts: [connected, second] }, named, ['accepted by acc_1']],
  ['none named, none there', { accounts: [] }, toAda, ['no_connected_account', 409]],
  ["only another tenant's", { accounts: [foreign] }, toAda, ['no_connected_account', 409]],
  ['two connected', { accounts: [connected, second] }, toAda, ['ambiguous_account', 400]],
  ['one connected, one not', { accounts: [reconnecting, second] }, toAda, ['accepted by acc_2']],
  ['one reconnecting', { accounts: [reconnecting] }, toAda, ['accepted by acc_1']],
  [
    'two reconnecting',
    { accounts: [reconnecting, as(second, { status: 'connecting' })] },
    toAda,
    ['ambiguous_account', 400],
  ],
  ['only a pairing one', { accounts: [pairing] }, toAda, ['no_connected_account', 409]],
  ['only a restricted one', { accounts: [restricted] }, toAda, ['no_connected_account', 409]],
  // contact
  ['contact by id', {}, byId, ['accepted by acc_1']],
  ['contact by id and phone', {}, { ...byId, phone: ada.phone }, ['accepted by acc_1']],
  ['another phone', {}, { ...byId, phone: '+12025550199' }, ['invalid_request', 400]],
  ['unknown contact', {}, { ...byId, contactId: 'con_x' }, ['contact_not_found', 404]],
  [
    "another tenant's contact",
    { contacts: [{ ...ada, tenantId: 'ten_2' }] },
    byId,
    ['contact_not_found', 404],
  ],
  ['another channel', { accounts: [chat] }, byId, ['contact_channel_mismatch', 422]],
  [
    'chatapp to a new phone',
    { accounts: [chat] },
    toStranger,
    ['chatapp_requires_existing_contact', 422],
  ],
  [
    'chatapp to a phone known elsewhere',
    { accounts: [chat] },
    toAda,
    ['chatapp_requires_existing_contact', 422],
  ],
  [
    'another channel to a new phone',
    { accounts: [{ ...chat, channel: 'mail' }] },
    toStranger,
    ['contact_required', 422],
  ],
  [
    'chatapp to a contact',
    { accounts: [chat], contacts: [{ ...ada, channel: 'chatapp' }] },
    toAda,
    ['accepted by acc_1'],
  ],
  // addresses
  ['an address', onIrc, toBen, ['accepted by acc_1']],
  ['no address', onIrc, { ...toBen, addresses: new Map() }, ['invalid_request', 400]],
  [
    'an address that the driver failed to read',
    onIrc,
    { ...toBen, addresses: new Map(), addressFaults: failed('irc') },
    ['driver_failed', 502],
  ],
  [
    'one that the driver of another channel failed to read',
    onIrc,
    { ...toBen, addressFaults: failed('xmpp') },
    ['accepted by acc_1'],
  ],
  ['a phone where there are addresses', onIrc, toStranger, ['invalid_request', 400]],
  ['an address where there are phones', {}, toBen, ['invalid_request', 400]],
  ['an address where there are contacts', { accounts: [chat] }, toBen, ['invalid_request', 400]],
  ['its id and address', irc([ben]), { ...toBen, contactId: ben.id }, ['accepted by acc_1']],
  [
    'the id of another',
    irc([{ ...ben, networkId: 'al' }, ada]),
    { ...toBen, contactId: ben.id },
    ['invalid_request', 400],
  ],
  ['address and phone', irc([ben]), { ...toBen, phone: ada.phone }, ['invalid_request', 400]],
  ['a text that is too long there', onIrc, { ...toBen, text: 'Hello B' }, ['invalid_request', 400]],
  [
    'emoji are one character each',
    onIrc,
    { ...toBen, text: '🙂🙂🙂🙂🙂🙂' },
    ['accepted by acc_1'],
  ],
  // made without a message
  [
    'no new contact left, to one not counted',
    { ...used, contacts: [{ ...ada, uncounted: true }] },
    toAda,
    ['new_contact_cap', 429, 3600],
  ],
  // flags
  [
    'do not disturb',
    { contacts: [{ ...ada, doNotDisturb: true }] },
    toAda,
    ['contact_do_not_disturb', 422],
  ],
  ['private', { contacts: [{ ...ada, private: true }] }, byId, ['contact_private', 422]],
  // guards
  ['a loop', { loop: [10, 10] }, toAda, ['loop_guard', 429, 40]],
  ['nearly a loop', { loop: [10, 9] }, toAda, ['accepted by acc_1']],
  ['a burst', { openers: 5 }, toStranger, ['opener_burst', 429, 59]],
  ['a burst, but to a friend', { openers: 5 }, toAda, ['accepted by acc_1']],
  ['four openers', { openers: 4 }, toStranger, ['accepted by acc_1']],
  // caps: one hour before midnight
  ['the sends are used up', { tenantCount: [50, 0] }, toAda, ['daily_send_cap', 429, 3600]],
  ['one send is left', { tenantCount: [49, 0] }, toAda, ['accepted by acc_1']],
  ['no new contact left', { tenantCount: [49, 10] }, toStranger, ['new_contact_cap', 429, 3600]],
  ['no new contact left, to a friend', { tenantCount: [49, 10] }, toAda, ['accepted by acc_1']],
  [
    'the ramp is used up',
    { accounts: [ramped], tenantCount: [20, 0], accountCount: [20, 0] },
    toAda,
    ['daily_send_cap', 429, 3600],
  ],
  [
    "the ramp's new contacts are used up",
    { accounts: [ramped], tenantCount: [9, 5], accountCount: [9, 5] },
    toStranger,
    ['new_contact_cap', 429, 3600],
  ],
  // the order of the checks
  [
    'suspended before account',
    { tenant: { status: 'suspended' }, accounts: [] },
    toAda,
    ['account_suspended', 403],
  ],
  [
    'account before contact',
    { accounts: [] },
    { ...byId, contactId: 'x' },
    ['no_connected_account', 409],
  ],
  [
    'flags before the loop guard',
    { contacts: [{ ...ada, doNotDisturb: true, private: true }], loop: [10, 10] },
    toAda,
    ['contact_do_not_disturb', 422],
  ],
  [
    'loop guard before caps',
    { loop: [10, 10], tenantCount: [50, 10] },
    toAda,
    ['loop_guard', 429, 40],
  ],
  [
    'burst before caps',
    { openers: 5, tenantCount: [50, 10] },
    toStranger,
    ['opener_burst', 429, 59],
  ],
  [
    'send cap before new-contact cap',
    { tenantCount: [50, 10] },
    toStranger,
    ['daily_send_cap', 429, 3600],
  ],
];

t.test('a question is decided as a send and enters nothing, but what is refused', async (t) => {
  const batch = batchOf({ openers: 5 });
  const key = { keyHash: 'k', bodyHash: 'b' };
  const question: SendInput = { ...toAda, idempotency: key, isQuestion: true };
  t.match(decideSend(rules, batch, question), { accepted: { contact_id: 'con_ada' } });
  t.match(batch, { newMessages: { length: 0 }, newKeys: { length: 0 } });
  t.equal(batch.newCounts.size, 0);
  t.match(decideSend(rules, batch, { ...toStranger, isQuestion: true }), {
    refused: { code: 'opener_burst' },
  });
  t.match(batch, { newContacts: { length: 0 }, newRefusals: { length: 1 } });
});

t.test('every refusal, in the decided order', async (t) => {
  for (const [name, facts, send, expected] of table) {
    const batch = batchOf(facts);
    const decision = decideSend(rules, batch, send);
    t.same(outcome(decision), expected, name);
    if ('refused' in decision) {
      t.same(batch.newMessages, [], `${name}: nothing is stored`);
      t.same(batch.newContacts, [], `${name}: no contact is made`);
      t.equal(batch.newCounts.size, 0, `${name}: nothing is counted`);
    } else {
      t.equal(batch.newMessages.length, 1, `${name}: one message is stored`);
    }
  }
});

t.test('without a driver here, what another process would take is not called wrong', async (t) => {
  const driverless = { ...rules, channel: (name: string) => sendingChannel(name, null) };
  const decide = (facts: Facts, send: SendInput) => decideSend(driverless, batchOf(facts), send);
  t.same(outcome(decide({}, toStranger)), ['accepted by acc_1'], 'it waits for a driver');
  t.match(decide({ accounts: [chat] }, toStranger), {
    refused: { code: 'chatapp_requires_existing_contact' },
  });
  const noDriver = {
    code: 'no_connected_account',
    status: 409,
    message: /no working driver for irc/,
  };
  t.match(decide(onIrc, { ...toBen, addresses: new Map() }), { refused: noDriver });
  t.match(decide(onIrc, toStranger), { refused: noDriver });
  t.same(outcome(decide(irc([ben]), { ...byId, contactId: ben.id })), ['accepted by acc_1']);
});

t.test('a refusal names the one account that could be meant', async (t) => {
  const ofKey: SendInput = { ...toAda, accountIds: new Set(['acc_1']) };
  const none = 'No account is connected.';
  for (const [accounts, send, message] of [
    [[gone], toAda, 'The account acc_1 is disconnected. GET /accounts says why.'],
    [[gone], named, 'The account acc_1 is disconnected. GET /accounts says why.'],
    [[pairing], toAda, 'The account acc_1 is connecting: it is being linked.'],
    [[gone, second], ofKey, 'The account acc_1 is disconnected. GET /accounts says why.'],
    [[], toAda, none],
    [[second], ofKey, 'No account of this key is connected.'],
    [[gone, as(gone, { id: 'acc_2' })], toAda, `${none} GET /accounts says why.`],
  ] as const) {
    const decision = decideSend(rules, batchOf({ accounts }), send);
    const refused = 'refused' in decision ? decision.refused : null;
    t.equal(refused?.code, 'no_connected_account');
    t.equal(refused?.message, message);
  }
});

t.test('a send from a restricted account is refused until a time', async (t) => {
  const until = Date.UTC(2026, 2, 11);
  for (const send of [named, toAda]) {
    const batch = batchOf({ accounts: [as(restricted, { restrictedUntil: until })] });
    t.match(decideSend(rules, batch, send), {
      refused: { message: 'The account acc_1 is restricted until 2026-03-11T00:00:00.000Z.' },
    });
  }
});

t.test('a batch: each send sees the ones before it', async (t) => {
  const batch = batchOf({ tenantCount: [48, 9] });
  const decide = (send: SendInput) => outcome(decideSend(rules, batch, send))[0];
  t.equal(decide({ ...toStranger, id: 'msg_1' }), 'accepted by acc_1');
  t.equal(decide({ ...toStranger, id: 'msg_2' }), 'accepted by acc_1', 'a contact by now');
  t.equal(decide(toAda), 'daily_send_cap');
  t.equal(batch.newContacts.length, 1);
  t.equal(batch.newThreads.size, 1);
  t.same(
    batch.newMessages.map((message) => message.opener),
    [true, false],
  );
  t.same(batch.newCounts.get('ten_1'), {
    tenantId: 'ten_1',
    accountId: '',
    sends: 2,
    newContacts: 1,
  });
});

t.test('a contact that was made without a message is counted with the first one', async (t) => {
  const made: Contact = { ...ben, uncounted: true };
  const batch = batchOf(irc([made]));
  for (const id of ['msg_1', 'msg_2']) decideSend(rules, batch, { ...toBen, id });
  t.same(batch.counted, [made.id]);
  t.same(batch.newContacts, []);
  t.match(batch.newCounts.get('acc_1'), { sends: 2, newContacts: 1 });
});

t.test('limit events: once a batch, day and reason, for the plan only', async (t) => {
  const batch = batchOf({ tenantCount: [50, 0] });
  decideSend(rules, batch, toAda);
  decideSend(rules, batch, toAda);
  const raised = [...batch.newNotices.values()];
  t.same(
    raised.map(({ notice }) => notice),
    [{ tenantId: 'ten_1', day: '2026-03-10', reason: 'daily_send_cap' }],
  );
  t.same(
    raised.map(({ event }) => event.payload),
    [
      {
        event: 'account.limit_reached',
        created_at: '2026-03-10T23:00:00.000Z',
        account_id: null,
        channel: null,
        account: {
          id: null,
          channel: null,
          identifier: null,
          status: 'limited',
          reason: 'daily_send_cap',
        },
      },
    ],
  );
  const ramp = batchOf({ accounts: [ramped], tenantCount: [20, 0], accountCount: [20, 0] });
  decideSend(rules, ramp, toAda);
  t.equal(ramp.newNotices.size, 0, 'a ramp refusal raises none');
});

t.test('refused openers restrict the account', async (t) => {
  const batch = batchOf({ openers: 5 });
  const waitOf = () => {
    const decision = decideSend(rules, batch, toStranger);
    return 'refused' in decision ? decision.refused.retryAfterS : undefined;
  };
  t.ok((waitOf() ?? 61) <= 60, 'the guard alone holds the next opener');
  t.equal(batch.holds.size, 0);
  t.equal(waitOf(), 3_600, 'the restriction holds it for longer');
  t.same([...batch.holds], [['acc_1', now + 3_600_000]]);
  t.equal(batch.newRefusals.length, 2);

  const away = batchOf({ accounts: [reconnecting], openers: 5 });
  const waits = [1, 2, 3].map(() => outcome(decideSend(rules, away, toStranger))[2]);
  t.ok(
    waits.every((wait) => wait !== undefined && wait <= 60),
    `one that reconnects is not restricted: the guard alone holds its openers, ${waits} s`,
  );
  t.equal(away.holds.size, 0);
  t.equal(away.newRefusals.length, 3, 'they count once it is connected');
});

t.test('idempotency', async (t) => {
  const key = { keyHash: 'k', bodyHash: 'b' };
  const keyed: SendInput = { ...toAda, idempotency: key };
  const batch = batchOf();
  const first = decideSend(rules, batch, keyed);
  const twin = decideSend(rules, batch, { ...keyed, id: 'msg_2' });
  t.same(twin, first, 'the twin gets the first answer');
  t.equal(batch.newMessages.length, 1);
  const other = { ...keyed, idempotency: { ...key, bodyHash: 'other' } };
  t.same(outcome(decideSend(rules, batch, other)), ['idempotency_conflict', 409]);

  const capped = batchOf({ tenantCount: [50, 0], tenant: { status: 'suspended' } });
  const kept = { tenantId: 'ten_1', ...key, answer: { id: 'msg_0' }, createdAt: now - 86_399_999 };
  capped.keys.set(answerKey('ten_1', 'k'), kept);
  t.same(decideSend(rules, capped, keyed), { accepted: { id: 'msg_0' } }, 'before other checks');
  capped.keys.set(answerKey('ten_1', 'k'), { ...kept, createdAt: now - 86_400_000 });
  t.same(outcome(decideSend(rules, capped, keyed)), ['account_suspended', 403], 'expired');
  t.equal(capped.newKeys.length, 0, 'a refusal is not kept');
});

t.test('an Idempotency-Key is the same for every key of a tenant', async (t) => {
  const noAddresses = () => ({ forms: new Map(), faults: new Map() });
  const keyed = (accountIds: ReadonlySet<string> | null): SendInput => {
    const body = { to: { phone: '+12025550123' }, text: 'hello' };
    const made = sendInput({ tenantId: 'ten_1', accountIds }, body, noAddresses, 'one');
    return { ...toAda, id: made.id, accountIds, idempotency: made.idempotency };
  };
  const batch = batchOf();
  const first = decideSend(rules, batch, keyed(null));
  t.same(decideSend(rules, batch, keyed(new Set(['acc_1']))), first, 'its account is the key’s');
  const foreign = decideSend(rules, batch, keyed(new Set(['acc_other'])));
  t.same(outcome(foreign), ['idempotency_conflict', 409], 'and nothing of another account');
  t.equal(batch.newMessages.length, 1, 'one message');
});

t.test('a contact that the key may not know is refused in the order of checks', async (t) => {
  const key = { keyHash: 'k', bodyHash: 'b' };
  const strange = { ...toAda, contactId: ada.id, phone: null, isStranger: true };
  t.same(outcome(decideSend(rules, batchOf(), strange)), ['contact_not_found', 404]);
  const suspended = batchOf({ tenant: { status: 'suspended' } });
  t.same(outcome(decideSend(rules, suspended, strange)), ['account_suspended', 403]);
  const none = { ...strange, accountId: 'acc_none' };
  t.same(outcome(decideSend(rules, batchOf(), none)), ['account_not_found', 404]);
  const kept = { tenantId: 'ten_1', ...key, answer: { id: 'msg_0' }, createdAt: now };
  suspended.keys.set(answerKey('ten_1', 'k'), kept);
  const repeated = decideSend(rules, suspended, { ...strange, idempotency: key });
  t.same(repeated, { accepted: { id: 'msg_0' } }, 'a repeat gets the first answer');
});

t.test(
  'the intent is entered with the next message of an idle session, and with no other',
  async (t) => {
    const fence = { id: 'acc_1', owner: 'process', number: 7 };
    const asked: string[] = [];
    const session = {
      fence,
      next: 5,
      slots: 1,
      isBusy: (contactId: string) => contactId === 'con_busy',
    };
    const findIdle = (accountId: string) => {
      asked.push(accountId);
      return accountId === 'acc_1' ? session : null;
    };
    const sends = [named, { ...named, id: 'msg_2' }, { ...named, accountId: 'acc_2' }, toAda];
    const idle = idleSessions(sends, findIdle);
    t.same([...idle], [['acc_1', session]]);
    t.same(asked, ['acc_1', 'acc_2'], 'of accounts that are named, each once where it is idle');

    const batch = batchOf({ contacts: [{ ...ada, networkId: 'ada@net' }] });
    decideSend(rules, batch, named);
    const [message] = batch.newMessages;
    if (message === undefined) throw new Error('refused');
    const enter = (...sequences: readonly number[]) =>
      enterIntents(
        sequences.map((sequence) => ({ ...message, sequence })),
        idle,
        batch,
      ).map(({ intended, message: { attempts, dispatchedAt, dispatchFence } }) => {
        return [intended?.reference ?? null, attempts, dispatchedAt, dispatchFence];
      });
    const waits = [null, 0, null, null];
    t.same(enter(5, 6), [['msg_1', 1, now, 7], waits]);
    t.same(enter(6, 7), [waits, waits], 'another came before');
    const [one] = enterIntents([{ ...message, sequence: 5 }], idle, batch);
    t.same(one?.intended, {
      reference: 'msg_1',
      attempt: 1,
      to: { phone: '+12025550123', networkId: 'ada@net' },
      text: 'Hello',
      media: null,
      trace: null,
    });
    const toEach = (slots: number, ...contactIds: readonly string[]) => {
      const messages = contactIds.map((contactId, n) => ({
        ...message,
        contactId,
        sequence: 5 + n,
      }));
      for (const id of contactIds) batch.contacts.set(id, { ...ada, id });
      const entered = enterIntents(messages, new Map([['acc_1', { ...session, slots }]]), batch);
      return entered.map(({ intended }) => intended !== null);
    };
    t.same(toEach(2, 'con_a', 'con_a', 'con_b', 'con_c'), [true, false, true, false], 'two slots');
    t.same(toEach(2, 'con_busy', 'con_a'), [false, true], 'a contact with a message under way');
    const [other] = enterIntents([{ ...message, sequence: 5 }], new Map(), batch);
    t.equal(other?.intended, null, 'its lease does not stand');
  },
);
