import t from 'tap';
import { type ErrorCode, errorTable, GatewayError } from '../../core/errors.ts';

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

t.test(
  'a refusal carries the message, the details and whole seconds that its thrower names',
  async (t) => {
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
  },
);
