import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import { Type } from 'typebox';
import { systemClock } from '../../core/contracts/clock.ts';
import { eventDescriptions, eventTypes } from '../../core/contracts/events.ts';
import { type ErrorCode, errorTable, GatewayError } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { createLog } from '../../core/log.ts';
import {
  Closed,
  Nullable,
  nullableTimestamp,
  OneOf,
  Timestamp,
  timestamp,
} from '../../core/schemas.ts';

t.test('every refusal has a status and a sentence', async (t) => {
  for (const [code, { status, text }] of Object.entries(errorTable)) {
    t.match(code, /^[a-z]+(_[a-z]+)*$/);
    t.ok(status >= 400 && status <= 503, code);
    t.ok(text.length > 5, code);
    const error = new GatewayError(code as ErrorCode);
    t.match(error, { code, status, message: text, retryAfterS: undefined, details: undefined });
  }
  t.equal(errorTable.unauthorized.text, 'Invalid API key');
  // The codes of the specification's error table with their statuses.
  for (const [code, status] of [
    ['no_connected_account', 409],
    ['ambiguous_account', 400],
    ['account_not_found', 404],
    ['contact_not_found', 404],
    ['chatapp_requires_existing_contact', 422],
    ['contact_channel_mismatch', 422],
    ['contact_do_not_disturb', 422],
    ['contact_private', 422],
    ['account_suspended', 403],
    ['loop_guard', 429],
    ['opener_burst', 429],
    ['daily_send_cap', 429],
    ['new_contact_cap', 429],
    ['wait_concurrency', 429],
    ['message_not_found', 404],
  ] as const) {
    t.equal(errorTable[code].status, status, code);
  }
});

t.test('a refusal says what its place knows', async (t) => {
  const cause = new Error('inside');
  const details = [{ path: 'body/to', message: 'is missing' }];
  const error = new GatewayError('invalid_request', { message: 'No.', details, cause });
  t.match(error, { message: 'No.', details, cause, name: 'GatewayError' });
  for (const [given, sent] of [
    [0, 1],
    [0.2, 1],
    [1.01, 2],
    [60, 60],
  ] as const) {
    t.equal(new GatewayError('rate_limited', { retryAfterS: given }).retryAfterS, sent);
  }
});

t.test('ids sort in the order in which they are made', async (t) => {
  const ids = Array.from({ length: 1_000 }, () => newId('msg'));
  t.same([...ids].sort(), ids);
  t.equal(new Set(ids).size, ids.length);
  for (const id of ids.slice(0, 5)) t.match(id, /^msg_[0-9a-hjkmnp-tv-z]{26}$/);
  t.ok(newId('acc', 1_000) < newId('acc', 2_000));
});

t.test('schemas', async (t) => {
  const ajv = new Ajv2020({ strict: false });
  const takes = (schema: object, value: unknown) => ajv.validate(schema, value);
  const closed = Closed({ name: Type.String(), size: Type.Optional(Type.Integer()) });
  t.ok(takes(closed, { name: 'n' }));
  t.notOk(takes(closed, { name: 'n', other: 1 }), 'an unknown field');
  for (const [schema, value, bad] of [
    [Nullable(Type.Integer({ minimum: 3 })), 3, 2],
    [Nullable(OneOf(['a', 'b'])), 'a', 'c'],
    [Nullable(closed), { name: 'n' }, { size: 1 }],
    [Nullable(Type.Union([Type.String(), Type.Integer()])), 'x', true],
    [OneOf(['a', 'b']), 'b', 'c'],
    [Timestamp, '2026-01-31T09:30:00.000Z', '2026-01-31'],
  ] as const) {
    t.ok(takes(schema, value), JSON.stringify(value));
    t.notOk(takes(schema, bad), JSON.stringify(bad));
  }
  for (const schema of [Nullable(Type.String()), Nullable(OneOf(['a'])), Nullable(closed)]) {
    t.ok(takes(schema, null));
  }
  t.equal(timestamp(0), '1970-01-01T00:00:00.000Z');
  t.ok(takes(Timestamp, timestamp(Date.now())));
  t.equal(nullableTimestamp(null), null);
  t.equal(nullableTimestamp(0), '1970-01-01T00:00:00.000Z');
});

t.test('the nine events are described', async (t) => {
  t.equal(eventTypes.length, 9);
  t.same(Object.keys(eventDescriptions), [...eventTypes]);
});

t.test('the clocks', async (t) => {
  const { now, monotonic } = systemClock;
  t.ok(Math.abs(now() - Date.now()) < 1_000);
  const before = monotonic();
  t.ok(before <= monotonic());
});

t.test('the log stars secrets out', async (t) => {
  const lines: string[] = [];
  const log = createLog('info', { write: (line) => void lines.push(line) });
  log.debug('too quiet');
  log.info({ headers: { authorization: 'hidden', 'x-api-key': 'hidden' } }, 'a request');
  log.child({ plugin: 'x' }).info({ body: { password: 'hidden', code: 'hidden' } }, 'a login');
  t.equal(lines.length, 2);
  t.notMatch(lines.join(''), /hidden/);
  t.match(lines[1], /"plugin":"x"/);
  log.warn({ err: Object.assign(new Error('gone'), { code: 'ECONNREFUSED' }) }, 'an error');
  t.match(lines[2], /ECONNREFUSED/, 'an error keeps its code');
});
