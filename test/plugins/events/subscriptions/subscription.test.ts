import t from 'tap';
import type { FeedFilter, FeedPosition } from '../../../../plugins/events/feed/feed.ts';
import { Subscription } from '../../../../plugins/events/subscriptions/subscription.ts';
import { log } from '../../../fixtures/process.ts';

const pageSize = 100;

t.test('tenants with many events keep none with a single one waiting', async (t) => {
  const left = new Map(Array.from({ length: 8 }, (_, n) => [`busy_${n}`, 3 * pageSize]));
  left.set('quiet', 1);
  const cursors = new Map<string, number>();
  const order: string[] = [];
  const ended = new AbortController();
  const page = async ({ tenantId }: FeedFilter, { after }: FeedPosition) => {
    const count = Math.min(pageSize, (left.get(tenantId) ?? 0) - after);
    const events = Array.from({ length: count }, (_, n) => ({
      ...{ id: `evt_${n}`, type: 'message.received', createdAt: 1, accountId: null },
      ...{ payload: '{}', sequence: after + n + 1 },
    }));
    const hasMore = after + count < (left.get(tenantId) ?? 0);
    return { events, hasMore, position: { after: after + count, since: null, at: 0 } };
  };
  // As much of the parts as is called.
  const parts = {
    storage: {
      read: {
        jobs: { find: async () => [] },
        eventCursors: {
          behind: async () => [...left.keys()],
          find: async (_: string, tenantId: string) => cursors.get(tenantId) ?? 0,
        },
      },
      submit: async (_: unknown, { tenantId, sequence }: { tenantId: string; sequence: number }) =>
        void cursors.set(tenantId, sequence),
    },
    feed: { page },
    ...{ mint: (key: string) => key, log, name: 'test' },
    handler: async (_: unknown, { tenantId }: { tenantId: string }) => {
      order.push(tenantId);
      if (order.length === 8 * 3 * pageSize + 1) ended.abort();
    },
  } as unknown as ConstructorParameters<typeof Subscription>[0];
  await new Subscription(parts).run(ended.signal);
  t.equal(order.length, 8 * 3 * pageSize + 1, 'each is handled once');
  t.ok(order.indexOf('quiet') < 9 * pageSize, `the quiet one at place ${order.indexOf('quiet')}`);
});
