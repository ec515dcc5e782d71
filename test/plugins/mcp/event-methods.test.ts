import t from 'tap';
import type { Caller } from '../../../core/contracts/caller.ts';
import { type ErrorCode, GatewayError } from '../../../core/errors.ts';
import { asGatewayError, refusalOf } from '../../../core/refusal.ts';
import { eventMethods } from '../../../plugins/mcp/stateless/events/methods.ts';

const caller: Caller = {
  ...{ tenantId: 'ten_1', keyId: 'key_1', mode: 'test', plan: 'growth', status: 'active' },
  ...{ disabled: new Set<string>(), scopes: null, accountIds: null, confirmSends: false },
};

t.test('what the gateway refuses is an error of the protocol', async (t) => {
  const table: readonly (readonly [ErrorCode, number])[] = [
    ['unavailable', -32_603],
    ['internal_error', -32_603],
    ['rate_limited', -32_013],
    ['scope_missing', -32_012],
    ['invalid_event_type', -32_602],
  ];
  for (const [code, number] of table) {
    const fail = async (): Promise<never> => {
      throw new GatewayError(code);
    };
    const parts = {
      requestId: 'req',
      pages: () => ({ read: fail }),
      subscriptions: () => ({ subscribe: fail, unsubscribe: fail }),
      refuse: (error: unknown) => refusalOf(asGatewayError(error)),
    };
    const answer = eventMethods(parts, caller);
    const name = 'message.received';
    const delivery = { url: 'https://example.com/' };
    for (const [method, params] of [
      ['events/poll', { name }],
      ['events/unsubscribe', { name, delivery }],
    ] as const) {
      const answering = answer(method, params) ?? Promise.resolve({});
      await t.rejects(answering, { code: number, data: { error_code: code } }, code);
    }
  }
});
