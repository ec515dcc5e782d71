import t from 'tap';
import type { Caller } from '../../../core/contracts/caller.ts';
import { type ErrorCode, GatewayError } from '../../../core/errors.ts';
import { asGatewayError, refusalOf } from '../../../core/refusal.ts';
import { eventMethods } from '../../../plugins/mcp/stateless/events/methods.ts';
import type { WantedSubscription } from '../../../plugins/webhooks/contract.ts';
import { newSecret } from '../../harness/event-callback.ts';

const caller: Caller = {
  ...{ tenantId: 'ten_1', keyId: 'key_1', mode: 'test', plan: 'growth', status: 'active' },
  ...{ disabled: new Set<string>(), scopes: null, accountIds: null, confirmSends: false },
};

const delivery = { mode: 'webhook', url: 'https://agent.example/hook', secret: newSecret() };

/** Calls of `events/subscribe`, with what they come to want. */
function subscribing(isPaused = false) {
  const wanted: WantedSubscription[] = [];
  const fail = async (): Promise<never> => {
    throw new Error('not asked');
  };
  const health = { lastDeliveryAt: null, lastError: null, failingSince: null };
  const parts = {
    requestId: 'req',
    pages: () => ({ read: fail }),
    now: fail,
    subscriptions: () => ({
      subscribe: async (_caller: Caller, one: WantedSubscription) => {
        wanted.push(one);
        return { id: 'wh_sub_1', expiresAt: 1, health, isPaused };
      },
      unsubscribe: fail,
    }),
    refuse: (error: unknown) => refusalOf(asGatewayError(error)),
  };
  const answer = eventMethods(parts, caller);
  const subscribe = (params: object): Promise<object> =>
    answer('events/subscribe', { name: 'message.received', ...params }) ?? Promise.resolve({});
  return { subscribe, wanted, answer };
}

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
      now: fail,
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

t.test('a cursor that is too long is none that a poll gave', async (t) => {
  const read = async (_caller: Caller, { cursor }: { readonly cursor?: string }) => {
    t.equal(cursor?.length, 501);
    throw new GatewayError('invalid_cursor');
  };
  // As much of the parts as is called.
  const parts = {
    pages: () => ({ read }),
    refuse: (error: unknown) => refusalOf(asGatewayError(error)),
  } as unknown as Parameters<typeof eventMethods>[0];
  const params = { name: 'message.received', cursor: 'x'.repeat(501) };
  const polled = eventMethods(parts, caller)('events/poll', params) ?? Promise.resolve({});
  const message = 'params/cursor is none that events/poll gave';
  await t.rejects(polled, { code: -32_602, message });
});

t.test('another mode of delivery is not supported, whatever else it has', async (t) => {
  const { subscribe, wanted } = subscribing();
  for (const mode of ['poll', 'push']) {
    const refused = { code: -32_014, data: { feature: 'delivery.mode', value: mode } };
    await t.rejects(subscribe({ delivery: { mode } }), refused);
    await t.rejects(subscribe({ delivery: { ...delivery, mode } }), refused);
  }
  const none = { code: -32_602, message: /mode/ };
  await t.rejects(subscribe({ delivery: { ...delivery, mode: 1 } }), none);
  await t.rejects(subscribe({ delivery: { url: delivery.url, secret: delivery.secret } }), none);
  await t.rejects(subscribe({ delivery: null }), { code: -32_602, message: /delivery/ });
  t.same(wanted, []);
});

t.test('a subscription is active unless its callback is paused', async (t) => {
  for (const isPaused of [false, true]) {
    const answer = await subscribing(isPaused).subscribe({ delivery });
    t.match(answer, { deliveryStatus: { active: !isPaused } });
  }
});

t.test(
  'a length of the grant is taken whatever it is; an age of polled events is not',
  async (t) => {
    const { subscribe, wanted, answer } = subscribing();
    const lengths = [-1, 0, 1e300, null];
    for (const ttlMs of lengths) t.match(await subscribe({ delivery, ttlMs }), { id: 'wh_sub_1' });
    t.same(
      wanted.map(({ ttlMs }) => ttlMs),
      lengths,
    );
    await t.rejects(subscribe({ delivery, ttlMs: 'x' }), { code: -32_602, message: /ttlMs/ });
    const polled = answer('events/poll', { name: 'message.received', maxAgeMs: -1 });
    await t.rejects(polled ?? Promise.resolve({}), { code: -32_602, message: /maxAgeMs/ });
  },
);

t.test('the age of polled events is that by the clock of the database', async (t) => {
  const now = Date.parse('2026-01-02T03:04:05Z');
  const event = (id: string, ageMs: number) => ({
    ...{ id, type: 'message.received', created_at: new Date(now - ageMs).toISOString() },
    payload: {},
  });
  const events = [event('evt_1', 60_001), event('evt_2', 60_000), event('evt_3', 0)];
  // As much of the parts as is called.
  const parts = {
    now: async () => now,
    pages: () => ({ read: async () => ({ events, cursor: 'c', missed: false, has_more: false }) }),
    refuse: (error: unknown) => refusalOf(asGatewayError(error)),
  } as unknown as Parameters<typeof eventMethods>[0];
  const poll = (params: object) =>
    eventMethods(parts, caller)('events/poll', { name: 'message.received', ...params });
  const ids = async (params: object) => {
    const { events } = (await poll(params)) as { events: { eventId: string }[] };
    return events.map(({ eventId }) => eventId);
  };
  t.same(await ids({ maxAgeMs: 60_000 }), ['evt_2', 'evt_3']);
  t.same(await ids({}), ['evt_1', 'evt_2', 'evt_3']);
});
