import t from 'tap';
import { AccountKeys } from '../../../drivers/msgapp_web/account-keys.ts';
import {
  contactAtAddress,
  hiddenIdOf,
  isOneContact,
  phoneOfAddress,
} from '../../../drivers/msgapp_web/addresses.ts';
import { type CloseCode, closeCodeOf, endingOf } from '../../../drivers/msgapp_web/close-codes.ts';
import { ContactBook } from '../../../drivers/msgapp_web/contact-book.ts';
import { CredentialWrites } from '../../../drivers/msgapp_web/credential-writes.ts';
import { makeMsgappWebDriver } from '../../../drivers/msgapp_web/driver.ts';
import { eventOf } from '../../../drivers/msgapp_web/ending-event.ts';
import { loadLibrary } from '../../../drivers/msgapp_web/library.ts';
import { libraryLog } from '../../../drivers/msgapp_web/library-log.ts';
import { isPhoneOf, wrongPhoneEnding } from '../../../drivers/msgapp_web/linked-phone.ts';
import { ackRefusal, lateFailureOf, receiptsOf } from '../../../drivers/msgapp_web/receipts.ts';
import { resentIn } from '../../../drivers/msgapp_web/resent.ts';
import { withoutOldChains } from '../../../drivers/msgapp_web/session-record.ts';
import { openedMessages, signalRepository } from '../../../drivers/msgapp_web/signal-repository.ts';
import { Transactions } from '../../../drivers/msgapp_web/transactions.ts';
import { LogLines } from '../../../testing/contract/driver/bench.ts';
import { MemoryCredentials } from '../../../testing/contract/driver.ts';

/** Every way in which a connection ends: what a login that is under way makes of it, and a session that was there. */
const endings: readonly (readonly [CloseCode, object, object])[] = [
  ['unknown', lost('network_unreachable'), lost('network_unreachable')],
  ['unreachable', lost('network_unreachable'), lost('network_unreachable')],
  ['untrusted', refused('misconfigured'), lost('misconfigured')],
  [400, lost('network_unreachable'), lost('network_unreachable')],
  [401, refused('login_refused'), loggedOut('logged_out')],
  [402, refused('blocked_by_msgapp'), restricted()],
  [403, refused('blocked_by_msgapp'), restricted()],
  [405, lost('version_refused'), lost('version_refused')],
  [406, refused('blocked_by_msgapp'), restricted()],
  [408, lost('network_unreachable'), lost('network_unreachable')],
  [409, lost('version_refused'), lost('version_refused')],
  [411, refused('login_refused'), loggedOut('logged_out')],
  [419, refused('login_refused'), loggedOut('logged_out')],
  [428, lost('network_unreachable'), lost('network_unreachable')],
  [429, lost('rate_limited'), lost('rate_limited')],
  [440, loggedOut('replaced'), loggedOut('replaced')],
  [500, lost('network_unreachable'), lost('network_unreachable')],
  [503, lost('network_unreachable'), lost('network_unreachable')],
  [599, lost('network_unreachable'), lost('network_unreachable')],
];

function lost(reason: string) {
  return { type: 'lost', reason };
}
function refused(reason: string) {
  return { type: 'refused', reason };
}
function loggedOut(reason: string) {
  return { type: 'logged_out', reason };
}
function restricted() {
  return { type: 'restricted', reason: 'blocked_by_msgapp' };
}

t.test('every end of a connection has a reason, and a sentence that says what to do', async (t) => {
  const expected = ([code, linking, linked]: (typeof endings)[number]) =>
    (
      [
        ['linking', linking],
        ['showing', code === 408 ? { type: 'expired' } : linking],
        ['resuming', linked],
        ['connected', linked],
      ] as const
    ).map(([phase, ending]) => [code, phase, ending] as const);
  for (const [code, phase, ending] of endings.flatMap(expected)) {
    const found = endingOf(code, phase);
    t.match(found, ending, `${code} while ${phase}`);
    if (!('detail' in found)) continue;
    t.match(found.detail, /^[A-Z].+[.:] ?.+\.$/, 'what happened, and what next');
    t.match(eventOf(found), { ...ending, type: 'state', state: found.type });
  }
  for (const phase of ['linking', 'resuming'] as const) {
    t.same(endingOf(515, phase), { type: 'restart' });
    t.match(endingOf(405, phase), { detail: /drivers\.msgapp_web\.web_version/ });
  }
});

t.test('a code of the network is told from an error on the way there', async (t) => {
  const told = (message: string, statusCode?: number) =>
    closeCodeOf(Object.assign(new Error(message), statusCode && { output: { statusCode } }));
  t.equal(told('Connection Failure', 401), 401);
  t.equal(told('Stream Errored (conflict)', 440), 440);
  t.equal(told('WebSocket Error (Unexpected server response: 401)', 401), 'unreachable');
  t.equal(told('WebSocket Error (getaddrinfo ENOTFOUND)', 408), 'unreachable');
  t.equal(told('noise certificate signature invalid', 400), 'untrusted');
  t.equal(told('certification match failed', 400), 'untrusted');
  t.equal(told('something else'), 'unknown');
  t.equal(closeCodeOf(undefined), 'unknown');
});

t.test('the linked phone is the right one', async (t) => {
  const asked: string[] = [];
  const network = (answer?: { jid: string; exists: boolean }) => ({
    onWhatsApp: async (...phones: string[]) => {
      asked.push(...phones);
      return answer === undefined ? undefined : [answer];
    },
  });
  const brazil = '+5511987654321';
  const address = '551187654321:3@s.whatsapp.net';
  const ours = { jid: '551187654321@s.whatsapp.net', exists: true };
  t.equal(await isPhoneOf('+12025550123', '12025550123:3@s.whatsapp.net', network()), true);
  t.same(asked, [], 'the network is not asked when the numbers are the same');
  t.equal(await isPhoneOf(brazil, address, network(ours)), true, 'an address with other digits');
  t.same(asked, ['5511987654321@s.whatsapp.net']);
  t.equal(await isPhoneOf(brazil, address, network({ ...ours, exists: false })), false);
  const other = { jid: '12025550123@s.whatsapp.net', exists: true };
  t.equal(await isPhoneOf(brazil, address, network(other)), false);
  t.equal(await isPhoneOf(brazil, undefined, network(ours)), false);
  await t.rejects(isPhoneOf(brazil, address, network()), { message: /did not say/ });
  const { detail } = { detail: '', ...wrongPhoneEnding(address, true) };
  t.match(detail, /ends in 4321/);
  t.notMatch(detail, /8765/, 'no number in full');
  t.match(wrongPhoneEnding(address, false), {
    reason: 'wrong_phone',
    detail: /could not be unlinked/,
  });
});

t.test('addresses', async (t) => {
  for (const [address, phone, hidden] of [
    ['12025550123@s.whatsapp.net', '+12025550123', null],
    ['12025550123:17@s.whatsapp.net', '+12025550123', null],
    ['12025550123_1.0@s.whatsapp.net', '+12025550123', null],
    ['12025550123@c.us', '+12025550123', null],
    ['7712345:3@lid', null, '7712345@lid'],
    ['123-456@g.us', null, null],
    ['status@broadcast', null, null],
    ['120363@newsletter', null, null],
    ['', null, null],
    [undefined, null, null],
  ] as const) {
    t.equal(phoneOfAddress(address), phone, `phone of ${address}`);
    t.equal(hiddenIdOf(address), hidden, `opaque id of ${address}`);
    t.equal(isOneContact(address), phone !== null || hidden !== null);
  }
  t.same(contactAtAddress('7712345@lid', '12025550123@s.whatsapp.net'), {
    phone: '+12025550123',
    networkId: '7712345@lid',
  });
  t.equal(contactAtAddress('123-456@g.us', undefined), null);
});

t.test('what a receipt tells', async (t) => {
  const own = ['12025550100:4@s.whatsapp.net', '7712025550100@lid'];
  const from = '12025550123@s.whatsapp.net';
  const receipt = (attrs: Record<string, string>, ids: readonly string[] = []) =>
    receiptsOf(
      {
        tag: 'receipt',
        attrs: { id: 'msg_1', from, t: '1700000000', ...attrs },
        content: [
          { tag: 'list', attrs: {}, content: ids.map((id) => ({ tag: 'item', attrs: { id } })) },
        ],
      },
      own,
    );
  t.same(receipt({}), [
    {
      type: 'receipt',
      reference: 'msg_1',
      networkId: 'msg_1',
      status: 'delivered',
      error: null,
      at: 1_700_000_000_000,
    },
  ]);
  t.match(receipt({ type: 'read' }, ['msg_2', 'msg_3']), [
    { reference: 'msg_1', status: 'read' },
    { reference: 'msg_2', status: 'read' },
    { reference: 'msg_3', status: 'read' },
  ]);
  for (const type of ['retry', 'sender', 'read-self', 'peer_msg', 'server-error']) {
    t.same(receipt({ type }), [], type);
  }
  t.same(receipt({ from: '12025550100:2@s.whatsapp.net' }), [], 'our own phone');
  t.same(receipt({ from: '7712025550100:2@lid' }), [], 'our own phone, by its other address');
  t.same(receipt({ from: '123-456@g.us', participant: from }), [], 'a group');
  const ack = (attrs: Record<string, string>) => lateFailureOf({ tag: 'ack', attrs });
  t.equal(ack({ id: 'msg_1' }), null);
  t.match(ack({ id: 'msg_1', error: '479' }), {
    status: 'failed',
    error: /^refused_by_network: .*479/,
  });
  t.equal(ackRefusal('463').code, 'restricted_new_contacts');
  t.equal(ackRefusal('475').code, 'new_contact_quota');
});

t.test('a session forgets its oldest receiving chains only', async (t) => {
  const chain = (chainType: number) => ({ chainType, messageKeys: {} });
  const names = Array.from({ length: 50 }, (_, number) => `in ${number}`);
  const _chains = {
    out: chain(1),
    ...Object.fromEntries(names.map((name) => [name, chain(2)])),
  };
  const record = { version: 'v1', _sessions: { base: { registrationId: 7, _chains }, odd: null } };
  const before = JSON.stringify(record);
  t.same(withoutOldChains(record), {
    version: 'v1',
    _sessions: {
      base: {
        registrationId: 7,
        _chains: {
          out: chain(1),
          ...Object.fromEntries(names.slice(30).map((name) => [name, chain(2)])),
        },
      },
      odd: null,
    },
  });
  t.equal(JSON.stringify(record), before, 'the original is left as it was');
  const bytes = Buffer.from('no record');
  for (const other of [null, 'text', bytes, {}]) t.equal(withoutOldChains(other), other);
});

async function contactBook(): Promise<ContactBook> {
  const library = await loadLibrary();
  const imports = { contacts: true, history: false };
  const keys = await AccountKeys.fresh(library, new MemoryCredentials(), imports);
  const log = libraryLog(new LogLines(), 'acc_1');
  const auth = { creds: keys.login, keys: new Transactions(keys) };
  const find = async () => [];
  const repository = signalRepository(library, keys, openedMessages(), auth, log, find);
  return new ContactBook(keys, { signalRepository: repository });
}

const number = (phone: string) => ({ phone, networkId: null });

t.test('a name and an address that come at once are both kept', async (t) => {
  const book = await contactBook();
  const [typed, real] = ['+5511987654321', '551187654321@s.whatsapp.net'];
  t.equal(await book.destinationOf(number(typed)), null, 'read before, and remembered');
  await Promise.all([
    book.keepName(number(typed), 'Bia (work)'),
    book.keepAddress(typed, real),
    book.keepName(number(typed), 'Bia (home)'),
  ]);
  t.equal(await book.destinationOf(number(typed)), real);
  t.match(await book.person('5511987654321@s.whatsapp.net', null, 'bia'), { name: 'Bia (home)' });
});

t.test('replies from an address stay with the number that was written to', async (t) => {
  const [typed, other, real] = ['+5511987654321', '+55011987654321', '+551187654321'];
  const address = '551187654321@s.whatsapp.net';
  const knownAs = async (book: ContactBook) => (await book.person(address, null, null))?.phone;
  const first = await contactBook();
  await first.keepAddress(typed, address);
  await first.keepAddress(other, address);
  t.equal(await knownAs(first), typed, 'the first of two');
  await first.destinationOf(number(real));
  t.equal(await knownAs(first), real, 'the number itself, once it is written to');
  await first.keepAddress(other, address);
  t.equal(await knownAs(first), real);
  const second = await contactBook();
  await second.keepAddress(real, address);
  await second.keepAddress(typed, address);
  t.equal(await knownAs(second), real, 'the number itself, when it was first');
});

t.test('what the phone hands over and nobody can read does not hide the rest', async (t) => {
  const library = await loadLibrary();
  const { WebMessageInfo } = library.proto;
  const key = { id: 'X', remoteJid: '12025550123@s.whatsapp.net', fromMe: false };
  const whole = WebMessageInfo.encode({ key, message: { conversation: 'hello' } }).finish();
  const handedOver = [Buffer.from([0xff, 0xff]), whole].map((webMessageInfoBytes) => ({
    placeholderMessageResendResponse: { webMessageInfoBytes },
  }));
  const answer = { peerDataOperationResult: handedOver };
  const message = { protocolMessage: { peerDataOperationRequestResponseMessage: answer } };
  t.match(resentIn(library, { key, message }), [
    { id: 'X', message: { message: { conversation: 'hello' } } },
  ]);
});

t.test('options are checked by name', async (t) => {
  const key = Buffer.alloc(32, 7).toString('base64');
  for (const [options, said] of [
    [{ websocket_url: 'https://example.com' }, /^websocket_url must be a ws/],
    [{ websocket_url: 'ws://' }, /^websocket_url/],
    [{ websocket_url: 5 }, /^websocket_url/],
    [{ root_public_key: 'abc' }, /^root_public_key must be a raw key of 32 bytes/],
    [{ probe_s: 0 }, /^probe_s/],
    [{ restriction_check_s: 'soon' }, /^restriction_check_s/],
    [{ api_id: 1 }, /no option api_id/],
    [{ constructor: 1 }, /no option constructor/],
  ] as const) {
    t.throws(() => makeMsgappWebDriver({ options }), { message: said }, JSON.stringify(options));
  }
  for (const options of [
    {},
    { websocket_url: null, root_public_key: null },
    { websocket_url: 'wss://example.com/ws', root_public_key: key, probe_s: 1 },
  ]) {
    t.equal(makeMsgappWebDriver({ options }).capabilities.recipients, 'any_phone');
  }
});

t.test('credentials are written together, and never while something is held', async (t) => {
  const store = new MemoryCredentials(new Map([['old', '0']]));
  const batches: string[][] = [];
  const set = store.set.bind(store);
  store.set = async (values) => {
    batches.push(Object.keys(values));
    await set(values);
  };
  const writes = new CredentialWrites(store);
  const change = (name: string, value: string | null) => writes.set(new Map([[name, value]]));
  const read = async (name: string) => (await writes.get([name])).get(name);
  change('a', '1');
  change('b', '1');
  change('old', null);
  t.equal(await read('a'), '1', 'read before it is written');
  t.equal(await read('old'), undefined);
  await writes.durable();
  t.same(batches, [['a', 'b', 'old']], 'one write');
  t.same(
    [...store.values],
    [
      ['a', '1'],
      ['b', '1'],
    ],
  );

  const kept = writes.hold();
  await kept.run(async () => change('a', '2'));
  const waiting = writes.durable();
  await new Promise((resolve) => setTimeout(resolve, 30));
  t.equal(store.values.get('a'), '1', 'held back');
  kept.release();
  await waiting;
  t.equal(store.values.get('a'), '2');

  const given = writes.hold();
  await given.run(async () => {
    change('a', '3');
    change('b', '3');
    change('c', '3');
  });
  change('b', '4');
  given.undo();
  await writes.durable();
  t.equal(await read('a'), '2', 'taken back');
  t.equal(await read('b'), '4', 'something was built upon it');
  t.equal(await read('c'), undefined);

  store.fenced = true;
  change('a', '5');
  await t.rejects(writes.durable(), /lease/);
  t.equal(await read('a'), '5', 'not forgotten');
  store.fenced = false;
  await writes.durable();
  t.equal(store.values.get('a'), '5', 'the next one writes it');
  change('a', '6');
  writes.close();
  await t.rejects(
    writes
      .durable()
      .then(() => read('a'))
      .then((value) => {
        if (value !== '6') throw new Error('forgotten');
      }),
    /forgotten|closed/,
  );
  t.equal(store.values.get('a'), '5');
});
