import t from 'tap';
import { refusedReasons } from '../../../core/contracts/driver.ts';
import {
  causeOf,
  countsAgainstCap,
  isPairing,
  isRefused,
  ownsNumber,
  unconnected,
} from '../../../plugins/accounts/account-state.ts';
import type { AccountReason, AccountState } from '../../../plugins/accounts/contract.ts';
import { plainOptions } from '../../../plugins/accounts/operations/imports.ts';
import { causeView } from '../../../plugins/accounts/operations/schemas.ts';
import { openersRestriction, withoutPastHold } from '../../../plugins/accounts/restrictions.ts';
import { accountTransition } from '../../../plugins/accounts/status.ts';
import type { AccountTrigger } from '../../../plugins/accounts/transitions.ts';

const linked = { ...unconnected, linked: true, announced: true, everConnected: true };
const blocked = 'blocked_by_msgapp' satisfies AccountReason;
const detail = 'What the driver says.';
const away = { reason: 'network_unreachable', detail } as const;

const held = {
  ...linked,
  status: 'restricted',
  reason: 'safety_limits',
  detail,
  restriction: 'all',
  restrictionReason: 'safety_limits',
  restrictionDetail: detail,
  restrictedUntil: 1_000,
  heldUntil: 1_000,
} as const;

const states = {
  new: unconnected,
  pairing: { ...unconnected, status: 'connecting' },
  connected: { ...linked, status: 'connected' },
  unreached: { ...unconnected, status: 'connecting', ...away },
  reconnecting: { ...linked, status: 'connecting', ...away },
  openersBlocked: {
    ...linked,
    status: 'connected',
    restriction: 'new_contacts',
    restrictionReason: blocked,
    restrictionDetail: detail,
  },
  restricted: {
    ...linked,
    status: 'restricted',
    reason: blocked,
    detail,
    restriction: 'all',
    restrictionReason: blocked,
    restrictionDetail: detail,
    restrictedUntil: 1_000,
  },
  held,
  heldAndBlocked: {
    ...linked,
    status: 'restricted',
    reason: blocked,
    detail,
    restriction: 'all',
    restrictionReason: blocked,
    restrictionDetail: detail,
    heldUntil: 1_000,
  },
  heldOverOpeners: {
    ...held,
    restrictionBehindHold: { reason: blocked, detail, until: null },
  },
  loggedOut: { ...linked, linked: false, status: 'disconnected', reason: 'logged_out', detail },
} as const satisfies Record<string, AccountState>;

type StateName = keyof typeof states;

const triggers = {
  connect: { type: 'connect' },
  connected: { type: 'connected' },
  claimed: { type: 'claimed_elsewhere' },
  lost: { type: 'lost', ...away, retryAt: null },
  limited: { type: 'lost', reason: 'rate_limited', detail, retryAt: 5 },
  reached: { type: 'reached' },
  blocked: { type: 'restricted', scope: 'all', reason: blocked, detail, until: null },
  openersBlocked: {
    type: 'restricted',
    scope: 'new_contacts',
    reason: blocked,
    detail,
    until: null,
  },
  unrestricted: { type: 'unrestricted' },
  notYetDue: { type: 'restriction_due', now: 999 },
  due: { type: 'restriction_due', now: 1_000 },
  loggedOut: { type: 'logged_out', reason: 'logged_out', detail },
  replaced: { type: 'logged_out', reason: 'replaced', detail },
  refused: { type: 'refused', reason: 'wrong_phone', detail, retryAt: null },
  timeout: { type: 'pairing_timeout' },
  abandoned: { type: 'pairing_abandoned' },
  remove: { type: 'remove' },
} as const satisfies Record<string, AccountTrigger>;

const names = Object.keys(triggers) as (keyof typeof triggers)[];

type Row = Record<keyof typeof triggers, string>;

/** Nothing is under way. */
const idle: Row = {
  connect: 'connecting',
  connected: '-',
  claimed: '-',
  lost: '-',
  limited: '-',
  reached: '-',
  blocked: '-',
  openersBlocked: '-',
  unrestricted: '-',
  notYetDue: '-',
  due: '-',
  loggedOut: '-',
  replaced: '-',
  refused: '-',
  timeout: '-',
  abandoned: '-',
  remove: 'disconnected removed !removed',
};

const pairing: Row = {
  connect: 'connecting !logged_out',
  connected: 'connected +account.connected',
  claimed: 'disconnected conflict !conflict',
  lost: 'connecting network_unreachable',
  limited: 'connecting rate_limited',
  reached: '=',
  blocked: '-',
  openersBlocked: '-',
  unrestricted: '=',
  notYetDue: '=',
  due: '=',
  loggedOut: 'disconnected logged_out !logged_out',
  replaced: 'disconnected replaced !replaced',
  refused: 'disconnected wrong_phone !wrong_phone',
  timeout: 'disconnected pairing_timeout !pairing_timeout',
  abandoned: 'disconnected pairing_abandoned !pairing_abandoned',
  remove: 'disconnected removed !removed',
};

const connected: Row = {
  connect: 'connecting +account.disconnected !logged_out',
  connected: '=',
  claimed: '-',
  lost: 'connecting network_unreachable',
  limited: 'connecting rate_limited',
  reached: '=',
  blocked: 'restricted blocked_by_msgapp [all] +account.restricted',
  openersBlocked: 'connected [new_contacts]',
  unrestricted: '=',
  notYetDue: '=',
  due: '=',
  loggedOut: 'disconnected logged_out +account.disconnected !logged_out',
  replaced: 'disconnected replaced +account.disconnected !replaced',
  refused: 'disconnected wrong_phone +account.disconnected !wrong_phone',
  timeout: '-',
  abandoned: '-',
  remove: 'disconnected removed +account.disconnected !removed',
};

const restricted: Row = {
  ...connected,
  lost: '=',
  limited: '=',
  blocked: '=',
  openersBlocked: 'connected [new_contacts] +account.connected',
  unrestricted: 'connected +account.connected',
  due: 'connected +account.connected',
};

/**
 * Every cell of the table: `status reason [restriction] +event !abandon`, `=` for no change, `-` for a
 * trigger that is refused.
 */
const table: Record<StateName, Row> = {
  new: idle,
  pairing,
  unreached: {
    ...pairing,
    lost: '=',
    reached: 'connecting',
  },
  connected,
  reconnecting: {
    ...connected,
    connected: 'connected',
    lost: '=',
    openersBlocked: 'connecting network_unreachable [new_contacts]',
  },
  openersBlocked: {
    ...connected,
    lost: 'connecting network_unreachable [new_contacts]',
    limited: 'connecting rate_limited [new_contacts]',
    openersBlocked: '=',
    unrestricted: 'connected',
  },
  restricted,
  held: {
    ...restricted,
    blocked: 'restricted blocked_by_msgapp [all]',
    openersBlocked: '=',
    unrestricted: '=',
  },
  heldAndBlocked: {
    ...restricted,
    openersBlocked: 'restricted safety_limits [all]',
    unrestricted: 'restricted safety_limits [all]',
    due: '=',
  },
  heldOverOpeners: {
    ...restricted,
    blocked: 'restricted blocked_by_msgapp [all]',
    openersBlocked: '=',
    unrestricted: '=',
    due: 'connected [new_contacts] +account.connected',
  },
  loggedOut: idle,
};

t.test('every transition', async (t) => {
  for (const [name, state] of Object.entries(states) as [StateName, AccountState][]) {
    const cells = names.map((trigger) => [trigger, cell(state, triggers[trigger])]);
    t.same(Object.fromEntries(cells), table[name], name);
  }
});

t.test('a status has the sentence that came with its reason', async (t) => {
  for (const [name, state] of Object.entries(states) as [StateName, AccountState][]) {
    for (const trigger of names) {
      const next = accountTransition(state, triggers[trigger])?.state;
      if (next === undefined) continue;
      t.equal(next.detail === null, next.reason === null, `${name}: ${trigger}`);
      if (next.status === 'connected') t.equal(next.reason, null, `${name}: ${trigger}`);
    }
  }
  const { connected, reconnecting, openersBlocked } = states;
  const limited = accountTransition(connected, triggers.limited)?.state;
  t.match(limited, { reason: 'rate_limited', detail, retryAt: 5 });
  t.match(accountTransition(limited ?? connected, triggers.connected)?.state, { retryAt: null });
  t.equal(
    accountTransition(reconnecting, triggers.lost)?.state,
    reconnecting,
    'a repeated loss writes nothing',
  );
  const other = { ...triggers.lost, detail: 'Another sentence.' };
  t.match(accountTransition(reconnecting, other)?.state, { detail: 'Another sentence.' });
  t.same(causeOf(openersBlocked), { reason: blocked, detail }, 'also of one that goes on sending');
  t.same(causeOf(accountTransition(openersBlocked, triggers.lost)?.state ?? openersBlocked), away);
});

t.test('a connection says why it may write to known contacts only, and until when', async (t) => {
  const view = { accountId: 'acc', since: 0, retryAt: null, options: plainOptions('qr') };
  const shown = { ...view, live: true, step: null, pairingEndsAt: null };
  const state = { ...states.openersBlocked, restrictedUntil: 1_000 };
  const retry_at = '1970-01-01T00:00:01.000Z';
  t.match(causeView({ ...shown, state }), { reason: blocked, detail, retry_at });
  const lost = accountTransition(state, triggers.lost)?.state ?? state;
  t.match(
    causeView({ ...shown, state: lost }),
    { ...away, retry_at: null },
    'the loss comes first',
  );
});

const hold = {
  type: 'restricted',
  scope: 'all',
  reason: 'safety_limits',
  detail,
  until: 1_000,
} as const;

function after(from: AccountState, ...all: readonly AccountTrigger[]): AccountState {
  return all.reduce((state, trigger) => accountTransition(state, trigger)?.state ?? state, from);
}

t.test('a restriction of the network does not shorten the hold of the gateway', async (t) => {
  const { connected, held, heldAndBlocked } = states;
  const until = (until: number | null) => ({ ...triggers.blocked, until });
  t.same(after(connected, hold), held);
  for (const least of [1, 1_000]) {
    t.equal(after(held, until(least)), held, `until ${least}`);
    const shown = after(heldAndBlocked, until(least));
    t.match(shown, { reason: 'safety_limits', restrictedUntil: 1_000, heldUntil: 1_000 });
    t.equal(shown.detail, shown.restrictionDetail);
    t.match(shown.detail, /nothing is sent before 1970-01-01T00:00:01\.000Z/);
  }
  const due = (now: number) => ({ type: 'restriction_due', now }) as const;
  const later = after(held, until(1_001));
  t.match(later, { reason: blocked, restrictedUntil: 1_001 });
  t.match(after(later, due(1_000)), { reason: blocked });
  t.same(after(later, due(1_001)), connected);
  t.match(after(later, until(5)), { reason: 'safety_limits', restrictedUntil: 1_000 });
  for (const longer of [later, after(held, until(null))]) {
    const lifted = after(longer, triggers.unrestricted);
    t.match(lifted, { status: 'restricted', reason: 'safety_limits', restrictedUntil: 1_000 });
    t.equal(after(lifted, due(999)), lifted);
    t.same(after(lifted, due(1_000)), connected);
    t.equal(after(longer, triggers.connect).heldUntil, null, 'a new link has no hold');
    t.equal(after(longer, triggers.loggedOut).heldUntil, null);
  }
});

t.test('the hold of the gateway does not shorten a restriction of new contacts', async (t) => {
  const { connected, held, heldAndBlocked, heldOverOpeners, openersBlocked } = states;
  const until = (until: number | null) => ({ ...triggers.openersBlocked, until });
  const { due, unrestricted } = triggers;
  t.same(after(openersBlocked, hold), heldOverOpeners);
  t.same(after(held, triggers.openersBlocked), heldOverOpeners);
  for (const state of [openersBlocked, heldOverOpeners]) {
    t.same(openersRestriction(state), { reason: blocked, detail, until: null });
  }
  t.equal(openersRestriction(held), null);
  t.same(after(heldOverOpeners, due), openersBlocked);
  for (const way of [
    [until(1_001), hold],
    [hold, until(5), until(1_001)],
  ]) {
    t.same(after(connected, ...way, due), { ...openersBlocked, restrictedUntil: 1_001 });
    t.same(after(connected, ...way, due, { ...due, now: 1_001 }), connected);
    t.same(after(connected, ...way, { ...due, now: 1_001 }), connected, 'over meanwhile');
    t.same(after(connected, ...way, unrestricted), held);
    t.same(after(connected, ...way, triggers.blocked), heldAndBlocked, 'the latest word is valid');
  }
  t.same(after(heldOverOpeners, { ...triggers.blocked, until: 1_000 }), held);
  const behind = after(heldAndBlocked, until(1_001));
  t.match(behind, { reason: 'safety_limits', restrictedUntil: 1_000, heldUntil: 1_000 });
  t.same(after(behind, due), { ...openersBlocked, restrictedUntil: 1_001 });
  const late = withoutPastHold(heldOverOpeners, 1_000);
  t.same(after(late, unrestricted), connected);
  t.same(after(late, until(1_001)), { ...openersBlocked, restrictedUntil: 1_001 });
  for (const trigger of [triggers.connect, triggers.loggedOut]) {
    t.equal(after(heldOverOpeners, trigger).restrictionBehindHold, null, trigger.type);
  }
});

t.test('a hold that is over hides no restriction of the network', async (t) => {
  const { held, heldAndBlocked } = states;
  const { heldUntil } = heldAndBlocked;
  t.equal(withoutPastHold(held, heldUntil - 1), held, 'not yet');
  const over = withoutPastHold(heldAndBlocked, heldUntil);
  t.equal(cell(over, triggers.unrestricted), 'connected +account.connected');
  t.equal(cell(over, triggers.openersBlocked), 'connected [new_contacts] +account.connected');
});

t.test('every refusal of a login is known as one', async (t) => {
  for (const reason of refusedReasons) {
    const next = accountTransition(states.pairing, {
      type: 'refused',
      reason,
      detail,
      retryAt: 7,
    })?.state;
    t.match(next, { status: 'disconnected', reason, detail, retryAt: 7 });
    t.ok(next !== undefined && isRefused(next), reason);
  }
  for (const trigger of ['timeout', 'abandoned', 'claimed', 'loggedOut'] as const) {
    const next = accountTransition(states.pairing, triggers[trigger])?.state;
    t.ok(next !== undefined && !isRefused(next), trigger);
  }
});

t.test('what a connect starts from', async (t) => {
  const { connected, restricted, loggedOut } = states;
  for (const state of [connected, restricted, loggedOut]) {
    const next = accountTransition(state, { type: 'connect' })?.state;
    t.same(next, { ...unconnected, status: 'connecting', everConnected: true });
  }
});

t.test('events show the status after the transition', async (t) => {
  t.same(accountTransition(states.pairing, { type: 'connected' })?.events, [
    { type: 'account.connected', status: 'connected', reason: null },
  ]);
  t.same(accountTransition(states.connected, triggers.blocked)?.events, [
    { type: 'account.restricted', status: 'restricted', reason: 'blocked_by_msgapp' },
  ]);
  t.same(accountTransition(states.connected, { type: 'connect' })?.events, [
    { type: 'account.disconnected', status: 'disconnected', reason: 'logged_out' },
  ]);
});

t.test('what the statuses mean', async (t) => {
  const meaning = (state: AccountState) =>
    [isPairing(state), ownsNumber(state), countsAgainstCap(state)].map(Number).join('');
  t.same(
    Object.fromEntries(Object.entries(states).map(([name, state]) => [name, meaning(state)])),
    {
      new: '000',
      pairing: '101',
      unreached: '101',
      connected: '011',
      reconnecting: '011',
      openersBlocked: '011',
      restricted: '011',
      held: '011',
      heldAndBlocked: '011',
      heldOverOpeners: '011',
      loggedOut: '001',
    },
  );
});

function cell(state: AccountState, trigger: AccountTrigger): string {
  const decided = accountTransition(state, trigger);
  if (decided === null) return '-';
  const { status, reason, restriction } = decided.state;
  const facts = [status, reason ?? '', restriction === null ? '' : `[${restriction}]`];
  const events = decided.events.map((event) => `+${event.type}`);
  const abandon = decided.abandon === null ? '' : `!${decided.abandon}`;
  const before = `${state.status}${state.reason}${state.restriction}${state.restrictionReason}`;
  const after = `${status}${reason}${restriction}${decided.state.restrictionReason}`;
  if (before === after && events.length === 0 && abandon === '') return '=';
  return [...facts, ...events, abandon].filter((fact) => fact !== '').join(' ');
}
