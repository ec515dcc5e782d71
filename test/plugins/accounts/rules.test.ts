import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { LinkStep, StateEvent } from '../../../core/contracts/driver.ts';
import {
  chatappStatus,
  connectionStatus,
  msgappStatus,
} from '../../../plugins/accounts/connection-status.ts';
import type { AccountState } from '../../../plugins/accounts/contract.ts';
import { accountEvent } from '../../../plugins/accounts/events.ts';
import {
  identifierDescription,
  parseIdentifier,
  parseIdentifierInAddress,
} from '../../../plugins/accounts/identifiers.ts';
import { jittered, nextPause } from '../../../plugins/accounts/session/backoff.ts';
import { isDriverEvent, isSent } from '../../../plugins/accounts/session/driver-values.ts';
import { happeningOf } from '../../../plugins/accounts/session/happening.ts';
import { Pairing } from '../../../plugins/accounts/session/pairing.ts';
import { Turns } from '../../../plugins/accounts/session/turns.ts';
import { unconnected } from '../../../plugins/accounts/status.ts';

t.test('names of connection statuses', async (t) => {
  const gone = { ...unconnected, everConnected: true, announced: true };
  const on = { ...unconnected, linked: true, announced: true, everConnected: true };
  const pairing: AccountState = { ...unconnected, status: 'connecting' };
  const qr: LinkStep = { type: 'show_qr', data: 'x', token: 'y', expiresAt: 1 };
  const rows: [AccountState, boolean, LinkStep | null, string, string][] = [
    [unconnected, false, null, 'not_initialized', 'not_initialized'],
    [{ ...unconnected, reason: 'login_refused' }, false, null, 'disconnected', 'error'],
    [{ ...unconnected, reason: 'wrong_phone' }, false, null, 'disconnected', 'error'],
    [{ ...gone, reason: 'blocked_by_network' }, false, null, 'disconnected', 'error'],
    [{ ...unconnected, reason: 'conflict' }, false, null, 'disconnected', 'disconnected'],
    [{ ...unconnected, reason: 'pairing_timeout' }, false, null, 'disconnected', 'disconnected'],
    [{ ...unconnected, reason: 'logged_out' }, false, null, 'disconnected', 'disconnected'],
    [{ ...gone, reason: 'session_lost' }, false, null, 'disconnected', 'disconnected'],
    [{ ...gone, reason: 'replaced' }, false, null, 'disconnected', 'disconnected'],
    [pairing, false, null, 'connecting', 'connecting'],
    [pairing, false, qr, 'connecting', 'qr_required'],
    [pairing, false, { type: 'expired' }, 'connecting', 'connecting'],
    [pairing, false, { type: 'ask', field: 'code' }, 'connecting', 'code_required'],
    [pairing, false, { type: 'ask', field: 'password' }, 'connecting', 'password_required'],
    [{ ...on, status: 'connecting' }, false, null, 'connecting', 'connecting'],
    [{ ...on, status: 'connected' }, true, null, 'connected', 'connected'],
    [{ ...on, status: 'connected' }, false, null, 'connecting', 'connecting'],
    [{ ...on, status: 'restricted' }, false, null, 'restricted', 'restricted'],
  ];
  for (const [state, live, step, msgapp, chatapp] of rows) {
    const name = `${state.status} ${state.reason} ${step?.type}`;
    t.equal(msgappStatus(state, { live, step }), msgapp, `msgapp: ${name}`);
    t.equal(chatappStatus(state, { live, step }), chatapp, `chatapp: ${name}`);
    const other = chatapp === 'error' ? chatapp : msgapp;
    t.equal(connectionStatus(state, { live, step }), other, `any channel: ${name}`);
  }
  t.equal(msgappStatus({ ...on, status: 'connected' }, null), 'connected');
});

t.test('what an account is called by', async (t) => {
  const lower = (text: string) => (text.includes('@') ? text.toLowerCase() : null);
  const address = { identifier: { description: 'an address', parse: lower } };
  const nonsense = (answer: unknown) => ({
    // What a driver from outside may answer in spite of its types.
    identifier: { description: '', parse: () => answer as string },
  });
  const rows: [Parameters<typeof parseIdentifierInAddress>[0], string, string | null][] = [
    [{}, '+15550001111', '+15550001111'],
    [{}, '15550001111', null],
    [{}, 'ada@example.org', null],
    [address, 'Ada@example.org', 'ada@example.org'],
    [address, '+15550001111', null],
    [nonsense(''), 'x', null],
    [nonsense(7), 'x', null],
    [nonsense('two\nlines'), 'x', null],
    [nonsense('x'.repeat(100)), 'x', 'x'.repeat(100)],
    [nonsense('x'.repeat(101)), 'x', null],
  ];
  for (const [driver, text, expected] of rows) {
    if (driver !== null) t.equal(parseIdentifier(driver, text), expected, text);
  }
  t.equal(parseIdentifierInAddress({}, '15550001111'), '+15550001111', 'the + may be absent');
  t.equal(parseIdentifierInAddress(address, 'Ada@example.org'), 'ada@example.org');
  t.equal(parseIdentifierInAddress(null, '15550001111'), '+15550001111', 'the channel is off');
  t.equal(parseIdentifierInAddress(null, 'ada@example.org'), 'ada@example.org');
  t.equal(identifierDescription(address), 'an address');
  t.match(identifierDescription({}), /E\.164/);
});

t.test('the payload of an account event has the specified fields and no others', async (t) => {
  const account = {
    id: 'acc_1',
    tenantId: 'ten_1',
    channel: 'msgapp_web',
    identifier: '+15550001111',
  };
  const happened = {
    type: 'account.disconnected',
    status: 'disconnected',
    reason: 'removed',
  } as const;
  t.same(accountEvent(account, happened, 1_769_851_800_000), {
    tenantId: 'ten_1',
    type: 'account.disconnected',
    subject: 'acc_1',
    at: 1_769_851_800_000,
    payload: {
      event: 'account.disconnected',
      created_at: '2026-01-31T09:30:00.000Z',
      account_id: 'acc_1',
      channel: 'msgapp_web',
      account: {
        id: 'acc_1',
        channel: 'msgapp_web',
        identifier: '+15550001111',
        status: 'disconnected',
        reason: 'removed',
      },
    },
  });
});

t.test('pauses between tries to reconnect', async (t) => {
  const row = (tries: number, lostForMs: number, maxMs: number, from = 0): readonly number[] => {
    const pauses = [from];
    while (pauses.length <= tries) pauses.push(nextPause(pauses.at(-1) ?? 0, lostForMs, maxMs));
    return pauses.slice(1).map((ms) => ms / 1_000);
  };
  t.same(row(6, 0, 300_000), [1, 2, 4, 8, 15, 15], 'dense at first');
  t.same(row(3, 299_999, 300_000, 15_000), [15, 15, 15], 'for five minutes');
  t.same(row(6, 300_000, 300_000, 15_000), [30, 60, 120, 240, 300, 300], 'then ever longer');
  t.same(row(3, 0, 1_500), [1, 1.5, 1.5], 'never longer than the setting');
  t.equal(nextPause(0, 0, 20), 20);
  t.equal(jittered(4_000, 0.5), 3_000);
  t.ok(jittered(1_000, 0.999_999) >= 500, 'at most half is taken off');
});

t.test('what drivers emit', async (t) => {
  const from = { phone: null, networkId: 'x', name: null };
  const message = { type: 'message', networkId: 'n', from, text: '', media: null, at: 5 };
  const media = { kind: 'image', mimeType: null, fileName: null, size: 5, url: null };
  const step = { type: 'ask', field: 'code' };
  const unreachable = { reason: 'network_unreachable', detail: 'Why.' };
  const blocked = { reason: 'blocked_by_network', detail: 'Why.' };
  const receipt = { type: 'receipt', reference: 'msg', networkId: null, status: 'read', at: 5 };
  const past = {
    networkId: 'n',
    direction: 'inbound',
    contact: from,
    text: '',
    media: null,
    at: 5,
  };
  const right = [
    { type: 'state', state: 'lost', ...unreachable, retryAt: 5 },
    { type: 'state', state: 'restricted', ...blocked, scope: 'all', until: null },
    { type: 'state', state: 'refused', reason: 'wrong_phone', detail: 'Why.', retryAt: null },
    { type: 'identity', ...from },
    { type: 'step', step },
    { ...message, more: 'is let be' },
    { ...message, media: { ...media, open: async () => undefined } },
    { ...receipt, error: null },
    { type: 'contacts', contacts: [from] },
    { type: 'history', messages: [past] },
  ];
  for (const event of right) t.ok(isDriverEvent(event), JSON.stringify(event));
  const wrong = [
    ...[null, 1, 'state', [], {}, { type: 'other' }, { type: 'state', state: 'odd' }],
    { type: 'state', state: 'lost', retryAt: null },
    { type: 'state', state: 'lost', ...unreachable, detail: '', retryAt: null },
    { type: 'state', state: 'lost', ...blocked, retryAt: null },
    { type: 'state', state: 'restricted', ...blocked, scope: 'some', until: null },
    { type: 'state', state: 'logged_out', reason: 'bored', detail: 'Why.' },
    { type: 'step', step: { ...step, field: 'name' } },
    { ...message, text: 5 },
    { ...message, from: null },
    { ...message, from: { ...from, phone: 5 } },
    { ...message, at: Number.NaN },
    { ...message, at: -1 },
    { ...message, media: { ...media, kind: 'sticker' } },
    receipt,
    { ...receipt, error: null, status: 'lost' },
    { type: 'contacts', contacts: from },
    { type: 'history', messages: [past, { ...past, direction: 'up' }] },
  ];
  for (const event of wrong) t.notOk(isDriverEvent(event), JSON.stringify(event));
  t.ok(isSent({ networkId: 'n', at: 5 }));
  for (const answer of [undefined, null, {}, { networkId: 5, at: 5 }, { networkId: 'n' }]) {
    t.notOk(isSent(answer), JSON.stringify(answer));
  }
  const state = { type: 'state', detail: 'Why.' } as const;
  const restricted = { reason: 'blocked_by_chatapp', scope: 'all', until: 5 } as const;
  const said: StateEvent[] = [
    { ...state, state: 'lost', reason: 'rate_limited', retryAt: 5 },
    { ...state, state: 'refused', reason: 'wrong_phone', retryAt: 6 },
    { ...state, state: 'restricted', ...restricted },
    { ...state, state: 'logged_out', reason: 'replaced' },
  ];
  for (const event of said) {
    const { type: _, state, ...facts } = event;
    t.same(happeningOf(event), { type: state, ...facts }, 'nothing is dropped or renamed');
  }
});

t.test('each kind of event keeps its order and holds up no other', async (t) => {
  const turns = new Turns();
  const taken: string[] = [];
  const take = (name: string, ms: number) => async () => {
    await sleep(ms);
    taken.push(name);
  };
  let answered = (): void => undefined;
  const hanging = turns.event(
    'receipt',
    () =>
      new Promise<void>((resolve) => {
        answered = resolve;
      }),
  );
  const late = turns.event('receipt', take('receipt', 0));
  await Promise.all([
    turns.state(take('state', 20)),
    turns.event('contacts', take('first contacts', 10)),
    turns.event('contacts', take('second contacts', 0)),
    turns.event('history', take('history', 0)),
  ]);
  t.same(taken, ['state', 'history', 'first contacts', 'second contacts']);
  answered();
  await Promise.all([hanging, late]);
  t.equal(taken.at(-1), 'receipt');
  await t.rejects(
    turns.state(() => Promise.reject(new Error('no'))),
    /no/,
  );
  t.equal(await turns.state(async () => 'the next one is taken'), 'the next one is taken');
});

t.test('messages are begun in their order, 64 at once', async (t) => {
  const turns = new Turns();
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const first = turns.state(() => sleep(10));
  const all = Array.from({ length: 70 }, (_, n) =>
    turns.event('message', async () => {
      begun.push(n);
      await new Promise<void>((resolve) => ends.push(resolve));
    }),
  );
  await sleep(1);
  t.same(begun, [], 'behind the state');
  await first;
  await sleep(1);
  const order = Array.from({ length: 70 }, (_, n) => n);
  t.same(begun, order.slice(0, 64));
  ends[1]?.();
  await all[1];
  await sleep(1);
  t.equal(begun.length, 64, 'the oldest is still under way');
  ends[0]?.();
  await all[0];
  await sleep(1);
  t.same(begun, order.slice(0, 66));
  for (const end of ends) end();
  await sleep(1);
  t.same(begun, order);
  for (const end of ends) end();
  await Promise.all(all);
});

t.test('a pairing tells who waits, and counts wrong values', async (t) => {
  const request = { method: 'code', importContacts: false, importHistory: false };
  const pairing = new Pairing(request, 0);
  const never = new AbortController().signal;
  const waiting = pairing.next(never);
  const ask = { type: 'ask', field: 'code' } as const;
  pairing.take({ type: 'step', step: ask });
  t.same(await waiting, { type: 'step', step: ask });
  t.same(await pairing.next(never), { type: 'step', step: ask }, 'the step there is');
  t.same(
    [1, 2, 3, 4].map(() => pairing.wrongValue()),
    [false, false, false, false],
  );
  pairing.take({ type: 'step', step: ask });
  t.equal(pairing.wrongValue(), true, 'the same question again gives no more tries');
  pairing.take({ type: 'step', step: { type: 'ask', field: 'password' } });
  t.equal(pairing.wrongValue(), false, 'another question does');
  pairing.take({ type: 'lost' });
  t.equal(pairing.step, null);
  t.same(await pairing.next(AbortSignal.abort()), { type: 'over' });
});
