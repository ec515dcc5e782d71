import { createRequire } from 'node:module';
import t, { type Test } from 'tap';
import type { StateEvent } from '../../../core/contracts/driver.ts';
import {
  type Break,
  disconnected,
  outcomeOf,
  refusalOutcome,
} from '../../../drivers/chatapp/causes.ts';
import { NoAnswer } from '../../../drivers/chatapp/client.ts';

const now = Date.UTC(2027, 0, 1);

/** What a refusal comes to: while a login is under way, and while a linked account connects. */
type Row = readonly [number, string, login: string, connection: string];

const table: readonly Row[] = [
  [400, 'API_ID_INVALID', 'refused misconfigured', 'lost misconfigured'],
  [400, 'CONNECTION_API_ID_INVALID', 'refused misconfigured', 'lost misconfigured'],
  [400, 'API_ID_PUBLISHED_FLOOD', 'refused misconfigured', 'lost misconfigured'],
  [406, 'UPDATE_APP_TO_LOGIN', 'refused version_refused', 'lost version_refused'],
  [400, 'CONNECTION_LAYER_INVALID', 'refused version_refused', 'lost version_refused'],
  [400, 'INPUT_LAYER_INVALID', 'refused version_refused', 'lost version_refused'],
  [420, 'FLOOD_WAIT_90', 'refused rate_limited 90', 'lost rate_limited 90'],
  [420, 'FLOOD_TEST_PHONE_WAIT_5', 'refused rate_limited 5', 'lost rate_limited 5'],
  [400, 'PHONE_NUMBER_FLOOD', 'refused rate_limited', 'lost rate_limited'],
  [406, 'PHONE_PASSWORD_FLOOD', 'refused rate_limited', 'lost rate_limited'],
  [400, 'PHONE_NUMBER_BANNED', 'refused blocked_by_chatapp', 'lost network_unreachable'],
  [401, 'USER_DEACTIVATED_BAN', 'refused blocked_by_chatapp', 'lost network_unreachable'],
  [420, 'FROZEN_METHOD_INVALID', 'refused blocked_by_chatapp', 'lost network_unreachable'],
  [400, 'PHONE_NUMBER_INVALID', 'refused no_such_number', 'lost network_unreachable'],
  [400, 'PHONE_NUMBER_UNOCCUPIED', 'refused no_such_number', 'lost network_unreachable'],
  [400, 'PHONE_NUMBER_APP_SIGNUP_FORBIDDEN', 'refused no_such_number', 'lost network_unreachable'],
  [401, 'USER_DEACTIVATED', 'refused no_such_number', 'logged_out logged_out'],
  [401, 'SESSION_REVOKED', 'refused login_refused', 'logged_out logged_out'],
  [401, 'SESSION_EXPIRED', 'refused login_refused', 'logged_out logged_out'],
  [401, 'AUTH_KEY_UNREGISTERED', 'refused login_refused', 'logged_out logged_out'],
  [401, 'AUTH_KEY_INVALID', 'refused login_refused', 'logged_out logged_out'],
  [406, 'AUTH_KEY_DUPLICATED', 'refused login_refused', 'logged_out replaced'],
  [303, 'PHONE_MIGRATE_4', 'lost network_unreachable', 'lost network_unreachable'],
  [303, 'NETWORK_MIGRATE_1', 'lost network_unreachable', 'lost network_unreachable'],
  [303, 'USER_MIGRATE_5', 'lost network_unreachable', 'lost network_unreachable'],
  [500, 'AUTH_RESTART', 'lost network_unreachable', 'lost network_unreachable'],
  [-503, 'Timeout', 'lost network_unreachable', 'lost network_unreachable'],
  [400, 'PHONE_PASSWORD_PROTECTED', 'refused login_refused', 'lost network_unreachable'],
  [400, 'SMS_CODE_CREATE_FAILED', 'refused login_refused', 'lost network_unreachable'],
  [400, 'SOMETHING_NEW', 'refused login_refused', 'lost network_unreachable'],
];

t.test('every refusal of a login or a connection has its reason and its sentence', async (t) => {
  for (const [code, name, login, connection] of table) {
    for (const [phase, expected] of [
      ['login', login],
      ['connection', connection],
    ] as const) {
      const outcome = refusalOutcome(code, name, phase, now);
      t.equal(brief(outcome), expected, `${name}, ${phase}`);
      isSentence(t, outcome);
    }
  }
});

t.test(
  'an error that is not expected is named in the sentence, unless its name is a text',
  async (t) => {
    t.match(refusalOutcome(400, 'SOMETHING_NEW', 'login', now), { detail: /SOMETHING_NEW/ });
    t.match(refusalOutcome(400, 'SOMETHING_NEW', 'connection', now), { detail: /SOMETHING_NEW/ });
    const odd = refusalOutcome(400, 'call +12025550123', 'login', now);
    t.notMatch(odd, { detail: /2025550123/ });
    isSentence(t, odd);
  },
);

t.test('what has to be set, and until when to wait, is said', async (t) => {
  const unset = refusalOutcome(400, 'API_ID_INVALID', 'login', now);
  t.match(unset, { detail: /drivers\.chatapp\.api_id/ });
  const wait = refusalOutcome(420, 'FLOOD_WAIT_90', 'connection', now);
  t.match(wait, { detail: /2027-01-01T00:01:30/, retryAt: now + 90_000 });
});

t.test('what the library lists as refusals of a login is never taken for a loss', async (t) => {
  const { throws, errors } = createRequire(import.meta.url)('@mtcute/core/tl/raw-errors.json') as {
    readonly throws: Readonly<Record<string, readonly string[]>>;
    readonly errors: Readonly<Record<string, { readonly code: number }>>;
  };
  const methods = ['auth.sendCode', 'auth.signIn', 'auth.checkPassword', 'auth.exportLoginToken'];
  const names = new Set(methods.flatMap((method) => throws[method] ?? []));
  t.ok(names.size > 15);
  for (const name of names) {
    const code = errors[name]?.code ?? 400;
    const outcome = refusalOutcome(code, name, 'login', now);
    t.equal(outcome.state, code >= 500 ? 'lost' : 'refused', name);
    isSentence(t, outcome);
  }
});

t.test('a network out of reach, and trouble of our own', async (t) => {
  const expected: Readonly<Record<Break, string>> = {
    unreachable: 'lost network_unreachable',
    broken: 'lost network_unreachable',
    key_unknown: 'lost network_unreachable',
    crowded: 'lost rate_limited',
  };
  for (const how of ['unreachable', 'broken', 'key_unknown', 'crowded'] as const) {
    t.equal(brief(disconnected(how)), expected[how]);
    isSentence(t, disconnected(how));
  }
  t.equal(brief(outcomeOf(new NoAnswer('late'), 'login', now)), 'lost network_unreachable');
  const own = outcomeOf(new Error('SQL of +12025550123'), 'connection', now);
  t.equal(brief(own), 'lost driver_failed');
  isSentence(t, own);
});

function brief(event: StateEvent): string {
  if (!('reason' in event)) return event.state;
  const wait =
    'retryAt' in event && event.retryAt !== null ? ` ${(event.retryAt - now) / 1000}` : '';
  return `${event.state} ${event.reason}${wait}`;
}

/** It fits, it ends, and it shows no number in full. */
function isSentence(t: Test, event: StateEvent): void {
  const detail = 'detail' in event ? event.detail : '';
  t.match(detail, /^[A-Z].* .*\.$/);
  t.ok(detail.length <= 500, detail);
  t.notMatch(detail, /\d{7}/);
}
