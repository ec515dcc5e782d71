import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import type { Caller } from '../../../core/contracts/caller.ts';
import { systemClock } from '../../../core/contracts/clock.ts';
import type { EventType } from '../../../core/contracts/events.ts';
import type { Lane, Unit } from '../../../core/contracts/storage.ts';
import { newId } from '../../../core/ids.ts';
import { LongPolls } from '../../../core/long-poll.ts';
import { PollNotifier } from '../../../core/poll-notifier.ts';
import { eventPage } from '../../../plugins/events/feed/event-page.ts';
import { Feed } from '../../../plugins/events/feed/feed.ts';
import type { FeedPage, FeedPosition } from '../../../plugins/events/feed/feed-page.ts';
import {
  numberedAtOnce,
  numberLane,
  passedAtOnce,
} from '../../../plugins/events/feed/number-lane.ts';
import { type EventPollRequest, EventPolls } from '../../../plugins/events/feed/polls.ts';
import { pruneEvents } from '../../../plugins/events/prune.ts';
import { LanePollSlots } from '../../../plugins/messages/wait/poll-slots.ts';
import { makeSlotLanes } from '../../../plugins/messages/wait/slots.ts';
import { log } from '../../fixtures/process.ts';
import { databases } from '../../harness/databases.ts';
import type { Teardown } from '../../harness/processes.ts';
import {
  acceptedId,
  hub,
  makeTenant,
  openStage,
  type Stage,
  type StageOptions,
  until,
} from '../messages/stage.ts';

const begin: FeedPosition = { after: 0, since: null, at: 0 };

function request(tenantId: string, changes: Partial<EventPollRequest> = {}): EventPollRequest {
  return {
    tenantId,
    keyId: 'key_1',
    types: null,
    accounts: null,
    limit: 50,
    position: begin,
    timeoutMs: 0,
    signal: new AbortController().signal,
    ...changes,
  };
}

/** One process with its polls. */
async function openPolls(t: Teardown, url: string, options: StageOptions, isDeaf = false) {
  const stage = await openStage(t, url, options);
  const { storage, broker } = stage;
  const lanes = makeSlotLanes(storage, systemClock, { kind: 'events', slots: 5 });
  const slots = new LanePollSlots(lanes, broker.processId, log);
  const polls = new EventPolls({
    feed: new Feed(storage, systemClock),
    read: storage.read,
    slots: () => slots,
    authenticator: { isCurrent: async (keyId) => options.isCurrent?.(keyId) ?? true },
    clock: systemClock,
    log,
  });
  const notifier = new PollNotifier(broker, polls, { topic: 'raised', gapMs: 25 });
  storage.onCommit('raised', (tenantId) => {
    if (!isDeaf) notifier.notify(tenantId);
  });
  if (!isDeaf) await notifier.listen();
  t.teardown(async () => polls.stop());
  return { stage, polls };
}

type Told = { readonly type?: EventType; readonly accountId?: string | null };

function told(tenantId: string, subject: string, { type, accountId }: Told = {}) {
  const payload = { event: type ?? 'message.sent', account_id: accountId ?? null, subject };
  return { tenantId, type: type ?? 'message.sent', subject, payload, at: 0 } as const;
}

async function raise(stage: Stage, tenantId: string, subjects: readonly string[], more: Told = {}) {
  await stage.run(async (unit) =>
    unit.events.record(
      subjects.map((subject) => ({ ...told(tenantId, subject, more), at: unit.now })),
    ),
  );
}

const subjectsOf = ({ events }: Pick<FeedPage, 'events'>): string[] =>
  events.map(({ payload }) => (JSON.parse(payload) as { subject: string }).subject);

const names = (count: number, prefix = 'n'): string[] =>
  Array.from({ length: count }, (_, n) => `${prefix}${n}`);

for (const engine of databases) {
  t.test(`the feed of events, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const revoked = new Set<string>();
    const options = { hub: hub(), isCurrent: (keyId: string) => !revoked.has(keyId) };
    const { stage, polls } = await openPolls(t, database.url, options);
    const { stage: otherStage, polls: other } = await openPolls(t, database.url, options);
    const open = async (): Promise<string> => {
      await stage.beat();
      await otherStage.beat();
      return (await makeTenant(stage)).tenantId;
    };
    const slots = async (tenantId: string): Promise<number> => {
      const rows: number[] = await stage.storage.connections
        .read('waits')
        .where({ tenant_id: tenantId, kind: 'events' })
        .pluck('slots');
      return rows.reduce((sum, held) => sum + held, 0);
    };
    const follow = async (tenantId: string, first: FeedPosition, by = polls, limit = 100) => {
      const seen: string[] = [];
      for (let position = first; ; ) {
        const page = await by.wait(request(tenantId, { position, limit }));
        seen.push(...subjectsOf(page));
        if (!page.hasMore) return { seen, position: page.position };
        position = page.position;
      }
    };

    t.test('in order, page by page, each once, and nothing of another tenant', async (t) => {
      const [tenantId, stranger] = [await open(), await open()];
      await raise(stage, tenantId, names(5));
      await raise(stage, stranger, ['foreign']);
      await stage.run(async (unit) => {
        await unit.events.recordFannedOut([{ ...told(tenantId, 'direct'), at: unit.now }]);
      });
      const first = await polls.wait(request(tenantId, { limit: 2 }));
      t.same([subjectsOf(first), first.hasMore], [['n0', 'n1'], true]);
      const second = await other.wait(request(tenantId, { limit: 3, position: first.position }));
      t.same([subjectsOf(second), second.hasMore], [['n2', 'n3', 'n4'], true]);
      const last = await polls.wait(request(tenantId, { limit: 3, position: second.position }));
      t.same([subjectsOf(last), last.hasMore], [['direct'], false]);
      const none = await polls.wait(request(tenantId, { position: last.position }));
      t.same([none.events, none.hasMore], [[], false]);
      t.same(subjectsOf(await polls.wait(request(tenantId))), [...names(5), 'direct'], 'again');
      t.same((await follow(stranger, begin)).seen, ['foreign']);
    });

    t.test('the bodies are those that were stored, with the account of each', async (t) => {
      const tenantId = await open();
      await raise(stage, tenantId, ['a'], { type: 'message.read', accountId: 'acc_1' });
      const { events } = await polls.wait(request(tenantId));
      const [event] = events;
      t.match(event, { type: 'message.read', accountId: 'acc_1' });
      const stored = stage.storage.connections.read('events').where('id', event?.id ?? '');
      const row = await stored.first('payload', 'created_at');
      t.same([event?.payload, event?.createdAt], [row?.payload, row?.created_at]);
    });

    t.test('by type and account, past long stretches of others', async (t) => {
      const tenantId = await open();
      await raise(stage, tenantId, ['first'], { type: 'message.failed', accountId: 'acc_1' });
      await raise(stage, tenantId, names(1_100), { accountId: 'acc_2' });
      await raise(stage, tenantId, ['second'], { type: 'message.failed', accountId: 'acc_2' });
      const types = new Set<EventType>(['message.failed']);
      const seen: string[] = [];
      let reads = 0;
      let page: FeedPage | undefined;
      do {
        const position = page?.position ?? begin;
        page = await polls.wait(request(tenantId, { types, position }));
        seen.push(...subjectsOf(page));
        reads += 1;
      } while (page.hasMore);
      t.same(seen, ['first', 'second']);
      t.ok(reads >= 3, `in ${reads} reads that each go through a part`);
      const ofOne = await polls.wait(request(tenantId, { accounts: new Set(['acc_1']) }));
      t.same(subjectsOf(ofOne), ['first']);
      const both = request(tenantId, { types, accounts: new Set(['acc_2']), timeoutMs: 5_000 });
      t.same(subjectsOf(await polls.wait(both)), ['second'], 'one that waits goes on by itself');
      const unknown = await polls.wait(request(tenantId, { accounts: new Set(['acc_x']) }));
      t.same(unknown.events, []);
    });

    const hasOneWriter = stage.storage.dialect === 'sqlite';
    t.test('one that commits later is never behind a cursor', { skip: hasOneWriter }, async (t) => {
      const tenantId = await open();
      let finish = (): void => undefined;
      const finished = new Promise<void>((resolve) => {
        finish = resolve;
      });
      let isStored = false;
      const slow: Lane<null, null> = {
        name: 'test.slow',
        locks: () => [],
        async run(unit: Unit, inputs) {
          await unit.events.record([{ ...told(tenantId, 'early'), at: unit.now }]);
          isStored = true;
          await finished;
          return inputs;
        },
      };
      const usuallyAt = Date.now();
      await polls.wait(request(tenantId));
      const usualMs = Date.now() - usuallyAt;
      const storing = stage.storage.submit(slow, null);
      await until('it to be stored', () => isStored);
      await raise(otherStage, tenantId, ['late']);
      const begunAt = Date.now();
      const first = await polls.wait(request(tenantId));
      t.same(subjectsOf(first), ['late'], 'what is not committed is not waited for');
      t.ok(Date.now() - begunAt < 1_500 + 5 * usualMs);
      const now = (await other.wait(request(tenantId, { position: 'now' }))).position;
      finish();
      await storing;
      for (const position of [first.position, now]) {
        t.same(subjectsOf(await polls.wait(request(tenantId, { position }))), ['early']);
      }
      t.same((await follow(tenantId, begin)).seen, ['late', 'early'], 'the order stays');
    });

    t.test('nothing about a contact whose messages are being deleted', async (t) => {
      const { tenantId } = await makeTenant(stage);
      const send = async (phone: string) => acceptedId(await stage.send({ tenantId, phone }));
      const [gone, stays] = [await send('+12025550101'), await send('+12025550102')];
      await raise(stage, tenantId, [gone, stays]);
      t.same(subjectsOf(await polls.wait(request(tenantId))), [gone, stays]);
      const { contactId = '' } = (await stage.storage.read.messages.find(tenantId, gone)) ?? {};
      await stage.storage.connections.write('contacts').where('id', contactId).update('private', 1);
      const erasure = { id: `fgt_${contactId}`, tenantId, contactId, address: null };
      await stage.run((unit) => unit.erasures.begin(erasure, unit.now));
      const passed = await polls.wait(request(tenantId, { limit: 1 }));
      t.same([passed.events, passed.hasMore], [[], true], 'its page is passed');
      const { position } = passed;
      t.same(subjectsOf(await polls.wait(request(tenantId, { position }))), [stays]);
    });

    t.test('from now on, whatever is there already', async (t) => {
      const tenantId = await open();
      await raise(stage, tenantId, names(3));
      const page = await polls.wait(request(tenantId, { position: 'now' }));
      t.same(page.events, []);
      const coming = polls.wait(request(tenantId, { position: 'now', timeoutMs: 5_000 }));
      await until('it to sleep', async () => (await slots(tenantId)) === 1);
      await raise(otherStage, tenantId, ['new']);
      t.same(subjectsOf(await coming), ['new']);
      t.same((await follow(tenantId, page.position)).seen, ['new']);
      const all = await polls.wait(request(tenantId, { position: 'oldest' }));
      t.same(subjectsOf(all), [...names(3), 'new']);
    });

    t.test('from now on, before more than is numbered at once', async (t) => {
      const tenantId = await open();
      const old = names(3 * numberedAtOnce);
      const longAgo = (await stage.storage.now()) - 60_000;
      await stage.run((unit) =>
        unit.events.record(old.map((name) => ({ ...told(tenantId, name), at: longAgo }))),
      );
      const now = await new Feed(stage.storage, systemClock).now(tenantId);
      t.type(now.since, 'number', 'a moment decides');
      const page = await polls.wait(request(tenantId, { position: now }));
      t.same(page.events, []);
      await raise(stage, tenantId, ['new']);
      const { seen, position } = await follow(tenantId, now);
      t.same([seen, position.since], [['new'], null], 'until all have a number');
      t.same((await follow(tenantId, begin)).seen, [...old, 'new'], 'nothing was lost');
    });

    t.test('wakes up for what any process raises, and only for its tenant', async (t) => {
      const [tenantId, stranger] = [await open(), await open()];
      t.intercept(LongPolls.prototype, 'rescan', { value: () => undefined });
      for (const from of [stage, otherStage]) {
        const name = `by ${from === stage ? 'the same' : 'another'} process`;
        const position = (await polls.wait(request(tenantId, { position: 'now' }))).position;
        const waiting = polls.wait(request(tenantId, { position, timeoutMs: 20_000 }));
        const client = new AbortController();
        const long = { timeoutMs: 20_000, signal: client.signal };
        let isOver = false;
        const idle = polls.wait(request(stranger, long)).finally(() => {
          isOver = true;
        });
        await until(
          'both to sleep',
          async () => (await slots(tenantId)) + (await slots(stranger)) === 2,
        );
        await raise(from, tenantId, [name]);
        t.same(subjectsOf(await waiting), [name], 'without any rescan');
        t.notOk(isOver, 'the stranger sleeps on');
        client.abort();
        t.same((await idle).events, []);
      }
      t.equal(await slots(tenantId), 0, 'every slot is free again');
    });

    t.test('a lost wake-up is made good by the rescan', async (t) => {
      const { stage: deafStage, polls: deaf } = await openPolls(t, database.url, options, true);
      const tenantId = await open();
      await deafStage.beat();
      const waiting = deaf.wait(request(tenantId, { timeoutMs: 20_000 }));
      await until('it to sleep', async () => (await slots(tenantId)) === 1);
      await raise(deafStage, tenantId, ['a']);
      t.same(subjectsOf(await waiting), ['a']);
      const next = deaf.wait(
        request(tenantId, { position: (await waiting).position, timeoutMs: 20_000 }),
      );
      await until('the next to sleep', async () => (await slots(tenantId)) === 1);
      await raise(deafStage, tenantId, ['b']);
      // Numbered by somebody else before the rescan.
      t.same((await follow(tenantId, begin)).seen, ['a', 'b']);
      t.same(subjectsOf(await next), ['b']);
    });

    t.test('five slots over all processes, beside those of the other waits', async (t) => {
      const tenantId = await open();
      const waits = [1, 2].map(() =>
        stage.waits.wait({ ...request(tenantId), position: null, timeoutMs: 9_000 }),
      );
      const sleeping = Array.from({ length: 12 }, (_, n) =>
        (n % 2 === 0 ? polls : other).wait(request(tenantId, { timeoutMs: 9_000 })).then(
          () => 'open',
          (error: { code: string; retryAfterS: number }) => `${error.code} ${error.retryAfterS}`,
        ),
      );
      await until('five to sleep', async () => (await slots(tenantId)) === 5);
      const refused: string[] = [];
      for (const one of sleeping) one.then((outcome) => refused.push(outcome));
      await until('the others to be refused', () => refused.length === 7);
      for (const outcome of refused) t.match(outcome, /^wait_concurrency [1-9]$/);
      await t.rejects(other.wait(request(tenantId)), { code: 'wait_concurrency' }, 'nor at once');
      await raise(stage, tenantId, ['a']);
      t.equal((await Promise.all(sleeping)).filter((outcome) => outcome === 'open').length, 5);
      t.same(subjectsOf(await polls.wait(request(tenantId))), ['a']);
      for (const { messages } of await Promise.all(waits)) t.same(messages, []);
    });

    t.test('five slots, too, while they look past others', async (t) => {
      const tenantId = await open();
      await raise(stage, tenantId, names(6_100));
      await raise(stage, tenantId, ['last'], { type: 'message.failed' });
      await follow(tenantId, begin, polls, 1_000);
      const types = new Set<EventType>(['message.failed']);
      const looking = Array.from({ length: 12 }, () =>
        polls.wait(request(tenantId, { types, timeoutMs: 20_000 })).then(subjectsOf),
      );
      const found = await Promise.allSettled(looking);
      const answered = found.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      const refused = found.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
      t.same(answered, Array(5).fill(['last']));
      t.match(refused, Array(7).fill({ code: 'wait_concurrency' }));
      t.equal(await slots(tenantId), 0);
    });

    t.test('ends with its time, its client, its key and its process', async (t) => {
      const tenantId = await open();
      const begunAt = Date.now();
      t.same((await polls.wait(request(tenantId, { timeoutMs: 200 }))).events, []);
      t.ok(Date.now() - begunAt >= 190);
      const client = new AbortController();
      const long = { timeoutMs: 20_000 };
      const gone = polls.wait(request(tenantId, { ...long, signal: client.signal }));
      const cut = polls.wait(request(tenantId, { ...long, keyId: 'key_2' }));
      await until('both to sleep', async () => (await slots(tenantId)) === 2);
      client.abort();
      t.same((await gone).events, []);
      revoked.add('key_2');
      await t.rejects(cut, { code: 'unauthorized' });
      const { stage: third, polls: stopping } = await openPolls(t, database.url, options);
      await third.beat();
      const open1 = stopping.wait(request(tenantId, long));
      await until('it to sleep', async () => (await slots(tenantId)) === 1);
      stopping.stop();
      t.same((await open1).events, []);
      t.same((await stopping.wait(request(tenantId, long))).events, [], 'a later one at once');
      t.equal(await slots(tenantId), 0);
    });

    t.test('samples are no events, and what is deleted is passed over', async (t) => {
      const tenantId = await open();
      await raise(stage, tenantId, names(4));
      const createdAt = await stage.storage.now();
      const type = 'message.sent' as const;
      const sample = { id: newId('evt'), tenantId, type, subject: 'wh_1', trace: null };
      await stage.run((unit) => unit.events.keep([{ ...sample, createdAt, payload: '{}' }]));
      const first = await polls.wait(request(tenantId, { limit: 1 }));
      t.same(subjectsOf(first), ['n0']);
      await raise(stage, tenantId, ['n4', 'n5']);
      await stage.run((unit) => unit.events.deleteOfSubjects(tenantId, ['n0', 'n1', 'n4']));
      t.same((await follow(tenantId, first.position)).seen, ['n2', 'n3', 'n5']);
      const before = (await stage.storage.now()) + 1_000;
      await stage.storage.submit(pruneEvents, { before, limit: 10_000 });
      const { position } = await polls.wait(request(tenantId));
      t.equal(position.after, 5, 'numbers whose events are gone are passed, and not read again');
      await raise(stage, tenantId, ['after']);
      for (const position of [begin, first.position]) {
        t.same((await follow(tenantId, position)).seen, ['after'], 'with the oldest that is kept');
      }
    });

    t.test('an old cursor has missed nothing while what it has passed is kept', async (t) => {
      const tenantId = await open();
      await raise(stage, tenantId, names(2));
      await polls.wait(request(tenantId));
      const caller: Caller = {
        ...{ tenantId, keyId: 'key_1', mode: 'test', plan: 'growth', status: 'active' },
        ...{ disabled: new Set(), scopes: null, accountIds: null, confirmSends: false },
      };
      const parts = {
        mint: () => '',
        // Behind the first event, of long ago.
        cursors: { issue: () => 'next', read: () => [1, null, 0] },
        storage: stage.storage,
        ...{ keptMs: 1_000, now: Date.now },
      };
      const read = async () =>
        await eventPage(parts, caller, { cursor: 'old' }, (wanted) => polls.read(wanted));
      t.match(await read(), { missed: false, events: [{ payload: { subject: 'n1' } }] });
      const sample = { ...told(tenantId, 'wh_1'), id: newId('evt'), createdAt: 0, payload: '{}' };
      await stage.run(async (unit) => {
        await unit.events.keep([{ ...sample, trace: null }]);
        await unit.events.deleteOfSubjects(tenantId, ['n0']);
      });
      t.match(await read(), { missed: true, events: [{ payload: { subject: 'n1' } }] });
    });

    t.test(
      'many readers while many raise: the same order for all, and nothing twice',
      async (t) => {
        const tenantId = await open();
        const [rounds, writers, readers] = [40, 4, 3];
        const total = rounds * writers * 3;
        const writing = Promise.all(
          Array.from({ length: writers }, async (_, writer) => {
            for (let n = 0; n < rounds; n += 1) {
              const by = (writer + n) % 2 === 0 ? stage : otherStage;
              await raise(by, tenantId, names(3, `${writer}/${n}/`));
              await pause(writer);
            }
          }),
        );
        const seen = await Promise.all(
          Array.from({ length: readers }, async (_, reader) => {
            const found: string[] = [];
            for (let position = begin; found.length < total; ) {
              const by = reader % 2 === 0 ? polls : other;
              const limit = reader === 0 ? 7 : 100;
              const page = await by.wait(request(tenantId, { position, limit, timeoutMs: 10_000 }));
              if (page.events.length === 0) break;
              found.push(...subjectsOf(page));
              position = page.position;
            }
            return found;
          }),
        );
        await writing;
        const [first = []] = seen;
        t.equal(new Set(first).size, total);
        for (const found of seen) t.same(found, first);
        for (let writer = 0; writer < writers; writer += 1) {
          const own = first.filter((name) => name.startsWith(`${writer}/`));
          const raised = names(rounds).flatMap((_, n) => names(3, `${writer}/${n}/`));
          t.same(own, raised, 'each writer in its order');
        }
      },
    );

    t.test('one transaction numbers a large portion for one tenant only', async (t) => {
      const tenantIds = [await open(), await open(), await open()].sort();
      for (const tenantId of tenantIds) {
        const fresh = names(passedAtOnce + 1).map((name) => told(tenantId, name));
        await stage.run((unit) => unit.events.recordFannedOut(fresh));
      }
      const wanted = tenantIds.map((tenantId) => ({ tenantId, most: passedAtOnce }));
      const more = await stage.run((unit) => numberLane.run(unit, wanted, undefined, false));
      t.same(more, [true, true, true]);
      const states = await stage.storage.read.feed.states(tenantIds);
      const lasts = tenantIds.map((tenantId) => states.get(tenantId)?.last);
      t.same(lasts, [passedAtOnce, numberedAtOnce, numberedAtOnce]);
    });

    t.test('from now on, soon also behind a long history', async (t) => {
      const tenantId = await open();
      const longAgo = (await stage.storage.now()) - 60_000;
      for (let n = 0; n < 30; n += 1) {
        const old = names(1_000, `${n}/`).map((name) => ({ ...told(tenantId, name), at: longAgo }));
        await stage.run((unit) => unit.events.recordFannedOut(old));
      }
      const { feed } = stage.storage.read;
      const after = feed.after.bind(feed);
      let bodies = 0;
      t.intercept(feed, 'after', {
        value: async (...of: Parameters<typeof after>) => {
          const found = await after(...of);
          bodies += found.length;
          return found;
        },
      });
      let page = await polls.read(request(tenantId, { position: 'now' }));
      await raise(stage, tenantId, ['new']);
      let calls = 1;
      for (; page.hasMore && page.events.length === 0; calls += 1) {
        page = await polls.read(request(tenantId, { position: page.position }));
      }
      if (page.events.length === 0) {
        page = await polls.read(request(tenantId, { position: page.position }));
      }
      t.same(subjectsOf(page), ['new']);
      // Each passes a portion at least, and as many as a second allows.
      t.ok(calls <= 30_000 / passedAtOnce + 3, `in ${calls} calls`);
      t.equal(bodies, 1, 'no body of the history was read');
      const { seen } = await follow(tenantId, begin, polls, 1_000);
      t.equal(new Set(seen).size, 30_001, 'nothing was lost');
      t.same([seen[0], seen[29_999], seen[30_000]], ['0/0', '29/999', 'new']);
    });
  });
}
