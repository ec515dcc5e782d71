import { setTimeout } from 'node:timers/promises';
import t from 'tap';
import type { FeedFilter, FeedPosition } from '../../../../plugins/events/feed/feed-page.ts';
import { Subscription } from '../../../../plugins/events/subscriptions/subscription.ts';
import { log } from '../../../fixtures/process.ts';
import { until } from '../../../harness/story.ts';

const pageSize = 100;

t.test('tenants with many events keep none with a single one waiting', async (t) => {
  const left = new Map(Array.from({ length: 8 }, (_, n) => [`busy_${n}`, 3 * pageSize]));
  left.set('quiet', 1);
  left.set('deleted', 0);
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
  t.notOk(cursors.has('deleted'), 'no row is made for a tenant without events');
});

t.test('what is erased while a handler takes its time is handed to none', async (t) => {
  let stored = [1, 2, 3].map((sequence) => ({
    ...{ id: `evt_${sequence}`, type: 'message.received', createdAt: 1, accountId: null },
    ...{ payload: '{}', sequence },
  }));
  let cursor = 0;
  const handled: string[] = [];
  const ended = new AbortController();
  // As much of the parts as is called.
  const parts = {
    storage: {
      read: {
        jobs: { find: async () => [] },
        eventCursors: { behind: async () => ['ten_a'], find: async () => cursor },
      },
      submit: async (_: unknown, { sequence }: { sequence: number }) => {
        cursor = sequence;
        if (sequence === 3) ended.abort();
      },
    },
    feed: {
      page: async (_: unknown, { after }: FeedPosition) => {
        const events = stored.filter(({ sequence }) => sequence > after);
        return { events, hasMore: false, position: { after: 3, since: null, at: 0 } };
      },
    },
    ...{ mint: (key: string) => key, log, name: 'test' },
    handler: async ({ id }: { id: string }) => {
      handled.push(id);
      if (id !== 'evt_1') return;
      stored = stored.filter(({ sequence }) => sequence !== 2);
      await setTimeout(1_100);
    },
  } as unknown as ConstructorParameters<typeof Subscription>[0];
  await new Subscription(parts).run(ended.signal);
  t.same(handled, ['evt_1', 'evt_3']);
});

/** What a subscription handles that was made at a moment, of events from these, while the database's clock has another. */
async function handledSince(since: number, created: readonly number[], now: number) {
  const handled: string[] = [];
  const cursors: number[] = [];
  const ended = new AbortController();
  const events = created.map((createdAt, n) => ({
    ...{ id: `evt_${n}`, type: 'message.received', createdAt, accountId: null },
    ...{ payload: '{}', sequence: n + 1 },
  }));
  // As much of the parts as is called.
  const parts = {
    storage: {
      now: async () => now,
      read: {
        jobs: { find: async () => [{ createdAt: since }] },
        eventCursors: { behind: async () => ['ten_a'], find: async () => 0 },
      },
      submit: async (_: unknown, { sequence }: { sequence: number }) => {
        cursors.push(sequence);
        if (sequence === events.length) ended.abort();
      },
    },
    feed: { page: async () => ({ events, hasMore: false, position: { after: events.length } }) },
    ...{ mint: (key: string) => key, log, name: 'test' },
    handler: async ({ id }: { id: string }) => void handled.push(id),
  } as unknown as ConstructorParameters<typeof Subscription>[0];
  await new Subscription(parts).run(ended.signal);
  return { handled, cursors };
}

t.test('a subscription gets no event from before it was made', async (t) => {
  const cursors = [0, 2];
  const inOrder = await handledSince(50_000, [49_999, 50_000], 50_001);
  t.same(inOrder, { handled: ['evt_1'], cursors }, 'the cursor passes it');
  const soon = await handledSince(50_000, [49_999, 50_000], 40_000);
  t.same(soon, { handled: ['evt_1'], cursors }, 'a transaction may take that long');
});

t.test('a clock that was set back leaves no subscription without events', async (t) => {
  const { handled } = await handledSince(50_000, [39_998, 39_999], 39_999);
  t.same(handled, ['evt_0', 'evt_1']);
});

t.test('handlers that never settle hold up their own tenants alone', async (t) => {
  const stuck = Array.from({ length: 8 }, (_, n) => `stuck_${n}`);
  const behind = new Set(stuck);
  const [lost, ended] = [new AbortController(), new AbortController()];
  t.teardown(() => [lost, ended].map((one) => one.abort()));
  let letGo: () => void = () => undefined;
  const hanging = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  let begun = 0;
  let failures = 0;
  const lines: { tenant?: string; text: string }[] = [];
  const line = ({ tenant }: { tenant?: string }, text: string) =>
    void lines.push({ text, ...(tenant === undefined ? {} : { tenant }) });
  const events = [
    { id: 'evt', type: 'message.received', createdAt: 1, payload: '{}', sequence: 1 },
  ];
  // As much of the parts as is called.
  const parts = {
    storage: {
      read: {
        jobs: { find: async () => [] },
        eventCursors: {
          async behind() {
            if (failures > 0 && failures-- > 0) throw new Error('the database is away');
            return [...behind];
          },
          find: async () => 0,
        },
      },
      submit: async (_: unknown, { tenantId, sequence }: { tenantId: string; sequence: number }) =>
        void (sequence === 1 && behind.delete(tenantId)),
    },
    feed: { page: async () => ({ events, hasMore: false, position: { after: 1 } }) },
    ...{ mint: (key: string) => key, name: 'test' },
    log: { warn: line, info: line, error: line },
    handler(_: unknown, { tenantId }: { tenantId: string }) {
      if (!stuck.includes(tenantId)) return Promise.resolve();
      begun += 1;
      return hanging;
    },
  } as unknown as ConstructorParameters<typeof Subscription>[0];
  const subscription = new Subscription(parts, { slowMs: 20, patienceMs: 20 });
  const run = subscription.run(lost.signal);
  const handled = (tenantId: string) =>
    until(`the event of ${tenantId}`, async () => !behind.has(tenantId) || undefined, 10_000);
  const add = (tenantId: string) => {
    behind.add(tenantId);
    subscription.notify(tenantId);
    return handled(tenantId);
  };
  await until('all to hang', async () => begun === stuck.length || undefined);
  await add('free_1');
  const slow = lines.filter(({ text }) => /has run for over/.test(text));
  t.same(slow.map(({ tenant }) => tenant).sort(), stuck, 'each is in the log, once');
  failures = 1;
  await until('the failure', async () => failures < 1 || undefined);
  await add('free_2');
  lost.abort();
  await run;
  const next = subscription.run(ended.signal);
  await add('free_3');
  t.equal(begun, stuck.length, 'no second handler beside the first, after a lost lease either');
  letGo();
  await Promise.all(stuck.map(handled));
  ended.abort();
  await next;
  t.equal(lines.filter(({ text }) => /has ended/.test(text)).length, stuck.length);
});
