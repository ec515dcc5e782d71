import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { Storage } from '../../../core/contracts/storage.ts';
import { GatewayError } from '../../../core/errors.ts';
import { createLog } from '../../../core/log.ts';
import { MemoryHub } from '../../../plugins/broker/hub.ts';
import { makeOutcomeLane } from '../../../plugins/webhooks/engine/outcome-lane.ts';
import { pruneReceivers } from '../../../plugins/webhooks/engine/upkeep.ts';
import { unsubscribeLane } from '../../../plugins/webhooks/event-subscriptions/ending.ts';
import { makeGrantLane } from '../../../plugins/webhooks/event-subscriptions/grant-lane.ts';
import { makeReplayLane, replayOf } from '../../../plugins/webhooks/replay.ts';
import { receiverId } from '../../../plugins/webhooks/subscriptions/receiver-id.ts';
import type { Attempt } from '../../../plugins/webhooks/tables/delivery-rows.ts';
import type { Webhook } from '../../../plugins/webhooks/tables/webhook-rows.ts';
import { log, submitting } from '../../fixtures/process.ts';
import { databases } from '../../harness/databases.ts';
import { newSecret } from '../../harness/event-callback.ts';
import { until } from '../messages/stage.ts';
import { FaultyServer } from '../storage/faulty-server.ts';
import {
  addTenant,
  addWebhook,
  deliveriesOf,
  type EngineOptions,
  Internet,
  openEngine,
  raise,
  raiseFannedOut,
  type Seen,
  save,
  subjects,
  unopenable,
} from './engine-world.ts';

const order = ['message.sent', 'message.delivered', 'message.read'] as const;

/** That each subject's three events came once, in order, each after the one before was answered. */
function checkOrder(t: Test, all: readonly Seen[], count: number): void {
  const bySubject = new Map<string, Seen[]>();
  for (const seen of all) {
    const { subject } = JSON.parse(seen.body) as { subject: string };
    bySubject.set(subject, [...(bySubject.get(subject) ?? []), seen]);
  }
  t.equal(bySubject.size, count);
  for (const seen of bySubject.values()) {
    t.same(
      seen.map(({ event }) => event),
      order,
    );
    const ends = seen.map(({ endedAt }) => endedAt ?? 0);
    const begins = seen.map(({ begunAt }) => begunAt);
    t.ok((ends[0] ?? 0) <= (begins[1] ?? 0) && (ends[1] ?? 0) <= (begins[2] ?? 0));
  }
}

/** The most requests to an address that were open at once. */
function mostAtOnce(seen: readonly Seen[]): number {
  const counts = seen.map(
    ({ begunAt }) =>
      seen.filter((one) => one.begunAt <= begunAt && (one.endedAt ?? Infinity) > begunAt).length,
  );
  return Math.max(0, ...counts);
}

t.jobs = databases.length;
for (const engine of databases) {
  t.test(engine.name, { buffered: true, jobs: 4 }, async (t) => {
    const open = async (t: Test) => {
      const database = await engine.create(t);
      const internet = new Internet();
      const hub = new MemoryHub();
      const start = (options: EngineOptions = {}) =>
        openEngine(t, database.url, internet, { hub, ...options });
      return { url: database.url, internet, start };
    };

    t.test(
      'one delivery for each event and subscription, by two processes',
      { buffered: true },
      async (t) => {
        const { internet, start } = await open(t);
        const [one, two] = [await start({ name: 'one' }), await start({ name: 'two' })];
        const tenantId = await addTenant(one, { disabled: ['event:message.read'] });
        const other = await addTenant(one);
        const without = await addTenant(one, { plan: 'without' });
        const first = await addWebhook(one, tenantId, { sealedSecret: 'sealed' });
        const second = await addWebhook(one, tenantId, { url: first.url });
        const others = await addWebhook(one, other, { subscribedTo: ['message.read'] });
        await addWebhook(one, tenantId, { createdAt: Date.now() + 9_000 });
        const off = await addWebhook(one, tenantId, { enabled: false });
        const forbidden = await addWebhook(one, without);
        await Promise.all(
          Array.from({ length: 4 }, async (_, batch) => {
            for (const process of [one, two]) {
              const name = `${process === one ? 'a' : 'b'}${batch}`;
              await raise(process, tenantId, subjects(5, name));
            }
          }),
        );
        await raise(one, tenantId, [{ subject: 'unwanted', type: 'message.read' }]);
        await raise(two, other, [{ subject: 'unwanted' }, { subject: 'x', type: 'message.read' }]);
        await raise(two, without, [{ subject: 'y' }]);
        const deliveries = await until('all deliveries', async () => {
          const all = await deliveriesOf(one);
          return all.length === 122 && all.every((row) => row.state !== 'waiting') && all;
        });
        const count = (webhookId: string, state: string) =>
          deliveries.filter((row) => row.webhookId === webhookId && row.state === state).length;
        t.same(
          [first, second, others].map(({ id }) => count(id, 'delivered')),
          [40, 40, 1],
        );
        t.same(
          [off, forbidden].map(({ id }) => count(id, 'suppressed')),
          [40, 1],
        );
        t.equal(internet.seen.length, 81, 'each was sent once');
        t.equal(new Set(internet.seen.map((seen) => seen.delivery)).size, 81);
        const seen = internet.at(first.url).find(({ headers }) => 'x-webhook-signature' in headers);
        t.match(
          seen?.body,
          /^\{"event":"message.sent","subject":"[ab]\d_\d+","text":"Grüße 👋"\}$/,
        );
        t.match(seen, { event: 'message.sent', attempt: 1 });
        const unsigned = internet.seen.filter(({ headers }) => !('x-webhook-timestamp' in headers));
        t.equal(unsigned.length, 41, 'signed where there is a secret, and only there');
        const waiting = await one.storage.connections.read('events').where('state', 0);
        t.same(waiting, []);
        const [receiver] = await one.storage.read.receivers.find([first.receiverId]);
        t.match(receiver?.health, { totalSuccesses: 80, totalFailures: 0, lastFailure: null });
        const metrics = `${await one.metrics()}${await two.metrics()}`;
        const sum = (pattern: RegExp) =>
          [...metrics.matchAll(pattern)].reduce((total, [, value]) => total + Number(value), 0);
        t.equal(sum(/gateway_webhook_deliveries_total\{outcome="delivered"\} (\d+)/g), 81);
        t.equal(sum(/gateway_webhook_deliveries_total\{outcome="suppressed"\} (\d+)/g), 41);
        t.equal(sum(/gateway_webhook_first_attempt_delay_seconds_count (\d+)/g), 81);
      },
    );

    t.test('the events of one message go in order', { buffered: true }, async (t) => {
      const { internet, start } = await open(t);
      const [one, two] = [await start({ name: 'one' }), await start({ name: 'two' })];
      const tenantId = await addTenant(one);
      const { url } = await addWebhook(one, tenantId);
      internet.on(url, async () => {
        await pause(Math.random() * 10);
        return Math.random() < 0.2 ? 500 : 204;
      });
      for (const type of order) {
        const events = subjects(12).map((event) => ({ ...event, type }));
        await Promise.all([
          raise(one, tenantId, events.slice(0, 6)),
          raise(two, tenantId, events.slice(6)),
        ]);
      }
      await until('everything to be sent', () => {
        const seen = internet.at(url);
        return seen.length === 36 && seen.every(({ endedAt }) => endedAt !== null);
      });
      checkOrder(t, internet.at(url), 12);
    });

    t.test(
      'what is fanned out as it is raised goes once, in order',
      { buffered: true },
      async (t) => {
        const { internet, start } = await open(t);
        const [one, two] = [await start({ name: 'one' }), await start({ name: 'two' })];
        const api = await start({ name: 'api', delivers: false });
        const tenantId = await addTenant(one);
        const { url } = await addWebhook(one, tenantId);
        const off = await addWebhook(one, tenantId, { enabled: false });
        internet.on(url, async () => {
          await pause(Math.random() * 10);
          return Math.random() < 0.2 ? 500 : 204;
        });
        const notify = async (process: typeof one, name: string): Promise<void> => {
          for (let round = 0; round < 8; round += 1) {
            const together = subjects(3, `${name}_together_${round}`);
            const all = together.flatMap((event) => order.map((type) => ({ ...event, type })));
            await raiseFannedOut(process, tenantId, all, true);
            const apart = subjects(2, `${name}_apart_${round}`);
            for (const type of order) {
              const events = apart.map((event) => ({ ...event, type }));
              await raiseFannedOut(process, tenantId, events, type === order[0]);
            }
          }
        };
        await Promise.all([notify(one, 'one'), notify(two, 'two'), notify(api, 'api')]);
        await until('everything to be sent', () => {
          const seen = internet.at(url);
          return seen.length >= 360 && seen.every(({ endedAt }) => endedAt !== null);
        });
        const rows = await until('every outcome', async () => {
          const all = await deliveriesOf(one);
          return all.every(({ state }) => state !== 'waiting') && all;
        });
        t.equal(rows.length, 720);
        t.ok(
          rows.every(({ webhookId, state }) => (webhookId === off.id) === (state === 'suppressed')),
        );
        t.same(internet.at(off.url), []);
        checkOrder(t, internet.at(url), 120);
        const waiting = await one.run((unit) => unit.events.waitingForChange(10));
        t.same(waiting.events, [], 'nothing waits in the outbox');
      },
    );

    t.test(
      'retries fire once, when due, under one id, also after a stop',
      { buffered: true },
      async (t) => {
        const { internet, start } = await open(t);
        const settings = { retryDelaysMs: [400, 900] };
        const one = await start({ settings });
        const tenantId = await addTenant(one);
        const third = await addWebhook(one, tenantId, { retriesEnabled: true });
        const never = await addWebhook(one, tenantId, { retriesEnabled: true });
        const once = await addWebhook(one, tenantId);
        internet.on(third.url, ({ attempt }) => (attempt === 3 ? 200 : 503));
        internet.on(never.url, () => 500);
        internet.on(once.url, () => 301);
        await raise(one, tenantId, subjects(3));
        await until('the first retries', () => internet.at(third.url).length >= 6);
        await one.stop();
        const atStop = internet.seen.length;
        await pause(100);
        t.equal(internet.seen.length, atStop, 'nothing after the stop');
        const two = await start({ settings });
        const rows = await until('the other process', async () => {
          const all = await deliveriesOf(two);
          return all.every(({ state }) => state !== 'waiting') && all;
        });
        await pause(100);
        for (const [{ id, url }, state, attempts] of [
          [third, 'delivered', 3],
          [never, 'failed', 3],
          [once, 'failed', 1],
        ] as const) {
          const of = rows.filter((row) => row.webhookId === id);
          t.same(
            of.map((row) => [row.state, row.attempts, row.dueAt, row.log.length]),
            of.map(() => [state, attempts, null, attempts]),
          );
          for (const row of of) {
            const seen = internet.at(url).filter((one) => one.delivery === row.id);
            t.same(
              seen.map((one) => one.attempt),
              Array.from({ length: attempts }, (_, index) => index + 1),
            );
            const [first, second, last] = seen.map(({ begunAt }) => begunAt);
            if (first === undefined || second === undefined || last === undefined) continue;
            t.ok(second - first >= 395 && last - second >= 895, 'not before they were due');
          }
        }
        t.equal(internet.seen.length, 9 + 9 + 3);
        const [receiver] = await two.storage.read.receivers.find([third.receiverId]);
        t.match(receiver?.health, { totalFailures: 6, totalSuccesses: 3, consecutiveFailures: 0 });
      },
    );

    t.test(
      'a retry has its turn where there is always more to do',
      { buffered: true },
      async (t) => {
        const { internet, start } = await open(t);
        const one = await start({ settings: { concurrency: 1, retryDelaysMs: [300] } });
        const tenantId = await addTenant(one);
        const { url } = await addWebhook(one, tenantId, { retriesEnabled: true });
        internet.on(url, async ({ attempt, body }) => {
          await pause(80);
          return body.includes('failing') && attempt === 1 ? 500 : 204;
        });
        await raiseFannedOut(one, tenantId, [{ subject: 'failing' }], true);
        const isRetried = () => internet.at(url).some(({ attempt }) => attempt === 2);
        for (let n = 0; n < 300 && !isRetried(); n += 1) {
          await raiseFannedOut(one, tenantId, [{ subject: `later_${n}` }], true);
          await pause(20);
        }
        t.ok(isRetried(), 'while new events went on coming');
      },
    );

    t.test('filters by account and channel, in both fan-outs', async (t) => {
      const { internet, start } = await open(t);
      const one = await start();
      const tenantId = await addTenant(one);
      const all = await addWebhook(one, tenantId);
      const ofAccount = await addWebhook(one, tenantId, { accountIds: ['acc_1'] });
      const ofChannel = await addWebhook(one, tenantId, { channels: ['chatapp'] });
      const events = (name: string) => [
        { subject: `${name}_1`, place: { account_id: 'acc_1', channel: 'msgapp_web' } },
        { subject: `${name}_2`, place: { account_id: 'acc_2', channel: 'chatapp' } },
        { subject: `${name}_3`, place: { account_id: null, channel: null } },
      ];
      await raise(one, tenantId, events('stored'));
      await raiseFannedOut(one, tenantId, events('direct'), true);
      await until('14 deliveries', async () => internet.seen.length === 14);
      const subjectsAt = ({ url }: { readonly url: string }) =>
        internet
          .at(url)
          .map(({ body }) => JSON.parse(body).subject)
          .sort();
      const numbers = (...wanted: readonly number[]) =>
        ['direct', 'stored'].flatMap((name) => wanted.map((n) => `${name}_${n}`));
      t.same(subjectsAt(all), numbers(1, 2, 3));
      t.same(subjectsAt(ofAccount), numbers(1, 3), 'its account, and what is of none');
      t.same(subjectsAt(ofChannel), numbers(2, 3));
      t.equal((await deliveriesOf(one)).length, 14, 'nothing is stored of what is filtered out');
    });

    t.test('410 pauses at once, and what waits for a retry is suppressed', async (t) => {
      const { internet, start } = await open(t);
      const one = await start({ settings: { retryDelaysMs: [300] } });
      const tenantId = await addTenant(one);
      const hook = await addWebhook(one, tenantId, { retriesEnabled: true });
      internet.on(hook.url, () => 410);
      await raise(one, tenantId, subjects(1, 'gone'));
      const states = (...wanted: readonly string[]) =>
        until(wanted.join(), async () => {
          const all = await deliveriesOf(one);
          return all.map(({ state }) => state).join() === wanted.join() && all;
        });
      const [ended] = await states('suppressed');
      t.match(ended, { attempts: 1, retries: 1, log: [{ statusCode: 410 }] });
      const [receiver] = await one.storage.read.receivers.find([hook.receiverId]);
      t.match(receiver?.health, { consecutiveFailures: 1, disabledReason: /410 Gone/ });
      await raise(one, tenantId, subjects(1, 'later'));
      await states('suppressed', 'suppressed');
      t.equal(internet.seen.length, 1);
    });

    t.test('a failure after the end of its subscription changes no health', async (t) => {
      const { internet, start } = await open(t);
      const one = await start();
      const tenantId = await addTenant(one);
      const grant = { keyId: 'key', expiresAt: Number.MAX_SAFE_INTEGER };
      const ending = await addWebhook(one, tenantId, { grant, sealedSecret: newSecret() });
      const { url } = ending;
      const staying = await addWebhook(one, tenantId, { url, subscribedTo: ['message.read'] });
      let answer: (status: number) => void = () => undefined;
      const answered = new Promise<number>((resolve) => {
        answer = resolve;
      });
      internet.on(url, () => answered);
      await raise(one, tenantId, [{ subject: 'late' }]);
      await until('the attempt', () => internet.at(url).length === 1);
      await one.storage.submit(unsubscribeLane, { tenantId, id: ending.id });
      answer(410);
      const [ended] = await until('the outcome', async () => {
        const all = await deliveriesOf(one);
        return all.every(({ state }) => state === 'failed') && all;
      });
      t.match(ended, { attempts: 1, log: [{ statusCode: 410 }] });
      const [receiver] = await one.storage.read.receivers.find([staying.receiverId]);
      t.match(receiver?.health, { consecutiveFailures: 0, totalFailures: 0, disabledAt: null });
      internet.on(url, () => 204);
      await raise(one, tenantId, [{ type: 'message.read', subject: 'next' }]);
      await until('the next delivery', async () =>
        (await deliveriesOf(one)).some(({ state }) => state === 'delivered'),
      );
    });

    t.test('retries that are switched off end what waits for one, but no replay', async (t) => {
      const { internet, start } = await open(t);
      const one = await start({ settings: { retryDelaysMs: [3_000] } });
      const two = await start({ name: 'two', settings: { retryDelaysMs: [3_000] } });
      const tenantId = await addTenant(one);
      const hook = await addWebhook(one, tenantId, { retriesEnabled: true });
      internet.on(hook.url, () => 500);
      await raise(one, tenantId, subjects(4, 'm'));
      const waiting = await until('the first attempts', async () => {
        const all = await deliveriesOf(one);
        return all.length === 4 && all.every(({ attempts }) => attempts === 1) && all;
      });
      const [before, after] = waiting.map(({ id }) => id);
      const off = { ...hook, retriesEnabled: false };
      await two.run(async (unit) => {
        const found = await unit.deliveries.forChange([before ?? '']);
        await unit.deliveries.save(found.map((delivery) => replayOf(delivery, hook, unit.now)));
        await unit.webhooks.delete([hook.id]);
        await unit.webhooks.insert([off]);
      });
      const replay = makeReplayLane(() => undefined);
      await two.storage.submit(replay, { webhookId: hook.id, deliveryId: after ?? '' });
      const ended = await until('all to end', async () => {
        const all = await deliveriesOf(one);
        return all.every(({ state }) => state === 'failed') && all;
      });
      for (const { id, attempts, retries, dueAt, log } of ended) {
        const isReplay = id === before || id === after;
        t.match([attempts, log.length, dueAt], isReplay ? [2, 2, null] : [1, 1, null]);
        t.match([retries, log.at(-1)], [1, { statusCode: 500, failure: { kind: 'status' } }]);
      }
      t.equal(internet.seen.length, 6, 'each replay went out once');
    });

    t.test('a retry whose event is gone fails, and says why', async (t) => {
      const { internet, start } = await open(t);
      const one = await start({ settings: { retryDelaysMs: [3_000] } });
      const tenantId = await addTenant(one);
      const hook = await addWebhook(one, tenantId, { retriesEnabled: true });
      internet.on(hook.url, () => 500);
      await raise(one, tenantId, subjects(1, 'old'));
      const delivery = (state: string) =>
        until(state, async () => (await deliveriesOf(one)).find((found) => found.state === state));
      await until('the first attempt', async () => internet.seen.length === 1 || undefined);
      await one.storage.connections.write('events').delete();
      t.match(await delivery('failed'), {
        attempts: 2,
        dueAt: null,
        log: [{ statusCode: 500 }, { statusCode: null, failure: { message: /not kept any more/ } }],
      });
      t.equal(internet.seen.length, 1);
    });

    t.test('an event of more than 256 KiB is not sent to a callback of MCP Events', async (t) => {
      const { internet, start } = await open(t);
      const one = await start({ settings: { eventRetryDelaysMs: [1] } });
      const tenantId = await addTenant(one);
      const grant = { keyId: 'key', expiresAt: Number.MAX_SAFE_INTEGER };
      const hook = await addWebhook(one, tenantId, { grant, sealedSecret: newSecret() });
      await one.run(({ events, now: at }) => {
        const common = { tenantId, type: 'message.sent', at } as const;
        return events.record([
          { ...common, subject: 'large', payload: { text: 'x'.repeat(262_144) } },
          { ...common, subject: 'small', payload: { text: 'x'.repeat(261_000) } },
        ]);
      });
      const ended = await until('both to end', async () => {
        const all = await deliveriesOf(one);
        return all.length === 2 && all.every(({ dueAt }) => dueAt === null) && all;
      });
      t.match(
        ended.find(({ subject }) => subject === 'large'),
        { state: 'failed', attempts: 1, log: [{ failure: { message: /more than 262144 bytes/ } }] },
      );
      t.match(internet.at(hook.url), { length: 1 });
      t.equal(ended.find(({ subject }) => subject === 'small')?.state, 'delivered');
      const [receiver] = await one.storage.read.receivers.find([hook.receiverId]);
      t.match(receiver?.health, { totalFailures: 0, totalSuccesses: 1, lastFailure: null });
    });

    t.test('attempts without a secret that opens are made again and pause nobody', async (t) => {
      const { internet, start } = await open(t);
      const pauseSoon = { pauseAfterFailures: 1, pauseAfterMs: 0 };
      const one = await start({ settings: { retryDelaysMs: [1], ...pauseSoon } });
      const tenantId = await addTenant(one);
      const signed = { retriesEnabled: true, sealedSecret: unopenable };
      const hook = await addWebhook(one, tenantId, signed);
      await raise(one, tenantId, [{ subject: 'm' }]);
      const [ended] = await until('the end', async () => {
        const all = await deliveriesOf(one);
        return all.length === 1 && all.every(({ dueAt }) => dueAt === null) && all;
      });
      t.match(ended, { state: 'failed', attempts: 2 });
      t.match(ended?.log[0]?.failure, { message: /cannot open the signing secret/ });
      t.equal(internet.at(hook.url).length, 0);
      const [receiver] = await one.storage.read.receivers.find([hook.receiverId]);
      t.match(receiver?.health, { attemptedAt: null, totalFailures: 0, disabledAt: null });
    });

    t.test('pause, off, and what is suppressed', { buffered: true }, async (t) => {
      const { internet, start } = await open(t);
      const one = await start({
        settings: { retryDelaysMs: [8_000], pauseAfterFailures: 5, pauseAfterMs: 60_000 },
      });
      const tenantId = await addTenant(one);
      const hook = await addWebhook(one, tenantId, { retriesEnabled: true });
      const beside = await addWebhook(one, tenantId, { url: hook.url });
      const hooked = async () =>
        (await deliveriesOf(one)).filter((row) => row.webhookId === hook.id);
      const health = async () => {
        const [receiver] = await one.storage.read.receivers.find([hook.receiverId]);
        return receiver?.health;
      };
      internet.on(hook.url, () => 500);
      await raise(one, tenantId, subjects(4, 'early'));
      await until('eight failures', async () => (await health())?.totalFailures === 8);
      const failing = await health();
      if (failing?.failingSince == null) throw new Error('it fails');
      t.match(failing, { disabledAt: null, consecutiveFailures: 8 }, 'not for long enough');
      const longer = { ...failing, failingSince: failing.failingSince - 60_000 };
      await one.run((unit) => unit.receivers.saveHealth([{ id: hook.receiverId, health: longer }]));
      await raise(one, tenantId, subjects(1, 'late'));
      const paused = await until('the pause', async () => {
        const now = await health();
        return now?.disabledAt != null && now;
      });
      t.match(paused.disabledReason, /^Paused after (9|10) failed attempts in a row/);
      await until('what was under way', async () => (await health())?.totalFailures === 10);
      const sent = internet.seen.length;
      await raise(one, tenantId, subjects(3, 'paused'));
      const all = await until('everything to end', async () => {
        const rows = await hooked();
        return rows.length === 8 && rows.every(({ state }) => state !== 'waiting') && rows;
      });
      t.equal(internet.seen.length, sent, 'nothing goes to a paused address');
      t.ok(
        all.every(({ state, dueAt }) => state === 'suppressed' && dueAt === null),
        'the events of the meantime, and the retries that fell due',
      );
      internet.on(hook.url, () => 204);
      await one.run((unit) => unit.receivers.reenable(hook.receiverId, unit.now));
      await raise(one, tenantId, subjects(2, 'again'));
      await until('deliveries again', async () => (await health())?.totalSuccesses === 4);
      t.equal(internet.seen.length, sent + 4, 'the suppressed are not made up for');

      await save(one, { ...hook, enabled: false });
      await raise(one, tenantId, subjects(2, 'off'));
      await until('the other', async () => (await health())?.totalSuccesses === 6);
      const off = (await hooked()).filter(({ subject }) => subject.startsWith('off'));
      t.same(
        off.map(({ state, attempts }) => [state, attempts]),
        [
          ['suppressed', 0],
          ['suppressed', 0],
        ],
      );
      await save(one, { ...hook, enabled: true });
      await raise(one, tenantId, subjects(1, 'on'));
      await until('both', async () => (await health())?.totalSuccesses === 8);
      // Deliveries that wait when their subscription is deleted or gets another URL.
      const moved = await addWebhook(one, tenantId);
      internet.on(hook.url, () => 500);
      await raise(one, tenantId, [{ subject: 'gone', type: 'message.read' }]);
      await until('failures', async () => (await health())?.totalFailures === 2);
      await one.run((unit) => unit.webhooks.delete([hook.id, beside.id]));
      await save(one, { ...hook, url: moved.url, receiverId: moved.receiverId });
      const [last] = await until('the attempts at the new URL', async () => {
        const seen = internet.at(moved.url).filter(({ attempt }) => attempt === 2);
        return seen.length > 0 && seen;
      });
      t.equal(JSON.parse(last?.body ?? '').subject, 'gone', 'at its current address');
      const metrics = await one.metrics();
      t.match(metrics, /deliveries_total\{outcome="suppressed"\} 13\n/);
    });

    t.test(
      'a receiver that hangs delays no other, and gets no more than its share',
      { buffered: true },
      async (t) => {
        const { internet, start } = await open(t);
        const one = await start({ settings: { timeoutMs: 30_000, inFlight: 20 } });
        const tenantId = await addTenant(one);
        const hooks: Webhook[] = [];
        for (let index = 0; index < 8; index += 1) {
          const hook = await addWebhook(one, tenantId);
          if (index >= 2) internet.on(hook.url, () => 500);
          hooks.push(hook);
        }
        const [quick, slow] = hooks as [Webhook, Webhook];
        internet.on(slow.url, async () => {
          await pause(30);
          return 204;
        });
        await raise(one, tenantId, [{ subject: 'first' }]);
        const bad = hooks.slice(2);
        await until('all to have answered', async () => {
          const rows = await deliveriesOf(one);
          return rows.length === 8 && rows.every(({ state }) => state !== 'waiting');
        });
        for (const { url } of bad) internet.on(url, internet.hang);
        await raise(one, tenantId, subjects(60));
        await until('the healthy ones', () => {
          const seen = [...internet.at(quick.url), ...internet.at(slow.url)];
          return seen.length === 122 && seen.every(({ endedAt }) => endedAt !== null);
        });
        const most = mostAtOnce(internet.at(slow.url));
        t.ok(most > 2 && most <= 10, `${most} at once to one that answers`);
        const hanging = () => internet.seen.filter(({ endedAt }) => endedAt === null).length;
        await until('half to hang', () => hanging() >= 10);
        t.equal(hanging(), 10, 'together half of all that may be open');
        for (const { url } of bad) t.ok(internet.at(url).length <= 3, 'two at once each');
        await one.run((unit) => unit.webhooks.delete(bad.map(({ id }) => id)));
        internet.letGo();
      },
    );

    t.test(
      'receivers that begin to hang delay no other for longer than a second',
      { buffered: true },
      async (t) => {
        const { internet, start } = await open(t);
        t.teardown(internet.letGo);
        const one = await start({ settings: { timeoutMs: 30_000, inFlight: 20 } });
        const [tenantId, other] = [await addTenant(one), await addTenant(one)];
        const bad = [await addWebhook(one, tenantId), await addWebhook(one, tenantId)];
        const quick = await addWebhook(one, other);
        await raise(one, tenantId, [{ subject: 'answered' }]);
        await until('all to have answered', async () => {
          const rows = await deliveriesOf(one);
          return rows.length === 2 && rows.every(({ state }) => state === 'delivered');
        });
        for (const { url } of bad) internet.on(url, internet.hang);
        await raise(one, tenantId, subjects(2));
        const hanging = () => {
          const seen = bad.flatMap(({ url }) => internet.at(url));
          return seen.filter(({ endedAt }) => endedAt === null).length;
        };
        await until('all to hang', () => hanging() === 4);
        await pause(1_300);
        await raise(one, tenantId, subjects(20, 'later'));
        await until('their share to be taken', () => hanging() === 10);
        await raise(one, other, subjects(20));
        await until('the other', () => internet.at(quick.url).length === 20);
        t.equal(hanging(), 10, 'together half of all that may be open');
        await one.run((unit) => unit.webhooks.delete(bad.map(({ id }) => id)));
        internet.letGo();
      },
    );

    t.test(
      'a process that hangs is replaced and begins nothing more',
      { buffered: true },
      async (t) => {
        const { internet, start } = await open(t);
        let frozen: Promise<void> | null = null;
        let thaw = (): void => undefined;
        const settings = { timeoutMs: 3_000 };
        const freezing = (storage: Storage) =>
          submitting(storage, async (lane, input) => {
            await frozen;
            return storage.submit(lane, input);
          });
        const one = await start({ name: 'one', settings, through: freezing });
        const tenantId = await addTenant(one);
        const { url } = await addWebhook(one, tenantId);
        internet.on(url, ({ process }) => {
          if (process !== 'one') return 204;
          frozen ??= new Promise((resolve) => {
            thaw = resolve;
          });
          return 204;
        });
        await raise(one, tenantId, [{ subject: 'm' }]);
        await until('the first attempt', () => internet.at(url).length === 1);
        const two = await start({ name: 'two', settings });
        await raise(two, tenantId, [{ subject: 'n' }]);
        await pause(1_000);
        t.equal(internet.at(url).filter(({ process }) => process === 'two').length, 0, 'leased');
        const rows = await until('the other process', async () => {
          const all = await deliveriesOf(two);
          return all.every(({ state }) => state === 'delivered') && all;
        });
        t.same(
          rows.map(({ attempts, log }) => [attempts, log.length]),
          [
            [1, 1],
            [1, 1],
          ],
        );
        const [first] = internet.at(url);
        const again = internet
          .at(url)
          .find(({ process, delivery }) => process === 'two' && delivery === first?.delivery);
        t.equal(again?.attempt, 1, 'the same attempt again');
        const sent = internet.seen.length;
        thaw();
        await pause(300);
        t.equal(internet.seen.length, sent);
        const [receiver] = await two.storage.read.receivers.find(rows.map((row) => row.receiverId));
        t.equal(receiver?.health.totalSuccesses, 2, 'counted once');
      },
    );

    t.test(
      'what was claimed unnoticed is delivered all the same',
      { buffered: true },
      async (t) => {
        const { internet, start } = await open(t);
        let claims = 0;
        const forgetful = (storage: Storage) =>
          submitting(storage, async (lane, input) => {
            const output = await storage.submit(lane, input);
            if (lane.name === 'webhooks.claim' && ++claims === 1) {
              throw new GatewayError('unavailable');
            }
            return output;
          });
        const one = await start({ settings: { timeoutMs: 10_000 }, through: forgetful });
        const tenantId = await addTenant(one);
        const { url } = await addWebhook(one, tenantId);
        const begun = performance.now();
        await raise(one, tenantId, [{ subject: 'm' }]);
        await until('the attempt', () => internet.at(url).length === 1);
        t.ok(claims > 1, 'given away and claimed again');
        t.ok(performance.now() - begun < 15_000, 'before a lease runs out');
      },
    );

    for (const [what, isStored] of [
      ['took place unnoticed', true],
      ['did not take place', false],
    ] as const) {
      t.test(`after a release that ${what} a receiver is claimed anew`, async (t) => {
        const { internet, start } = await open(t);
        let releases = 0;
        const failing = (storage: Storage) =>
          submitting(storage, async (lane, input) => {
            if (lane.name !== 'webhooks.release' || ++releases > 1) {
              return storage.submit(lane, input);
            }
            if (isStored) await storage.submit(lane, input);
            throw new GatewayError('unavailable');
          });
        const one = await start({ through: failing });
        const tenantId = await addTenant(one);
        const { url, receiverId } = await addWebhook(one, tenantId);
        const leases = async () => one.storage.read.receivers.leases.find([receiverId]);
        await raise(one, tenantId, [{ subject: 'first' }]);
        await until('the release', () => releases === 1);
        let held: Awaited<ReturnType<typeof leases>> = [];
        internet.on(url, async () => {
          held = await leases();
          return 204;
        });
        await raise(one, tenantId, [{ subject: 'second' }]);
        await until('the attempt', () => internet.at(url)[1]?.endedAt != null);
        t.match(held, [{ fence: 2, owner: String }], 'nothing goes out under the lease before');
      });
    }

    t.test('an outcome that is stored again changes nothing', { buffered: true }, async (t) => {
      const { internet, start, url } = await open(t);
      const one = await start();
      const tenantId = await addTenant(one);
      const hook = await addWebhook(one, tenantId, { retriesEnabled: true });
      internet.on(hook.url, internet.hang);
      await raise(one, tenantId, [{ subject: 'm' }]);
      await until('the attempt', () => internet.seen.length === 1);
      const [row] = await deliveriesOf(one);
      if (row === undefined) throw new Error('there is a delivery');
      const rules = {
        delaysMs: [60_000],
        eventDelaysMs: [],
        pause: { failures: 9, forMs: 1 },
      };
      const lane = makeOutcomeLane(rules, createLog('silent'));
      const failure = { kind: 'status', message: 'no' } as const;
      const attempt: Attempt = {
        number: 1,
        at: 5,
        durationMs: 1,
        statusCode: 500,
        answer: '',
        failure,
      };
      const input = { deliveryId: row.id, receiverId: row.receiverId, attempt };
      const [first, same, late] = await Promise.all([
        one.storage.submit(lane, input),
        one.storage.submit(lane, input),
        one.storage.submit(lane, { ...input, attempt: { ...attempt, at: 6 } }),
      ]);
      t.match([first.result, same.result, late.result], ['retry', 'retry', 'ignored']);
      t.equal(same.dueAt, first.dueAt);
      const [receiver] = await one.storage.read.receivers.find([hook.receiverId]);
      t.match(receiver?.health, { totalFailures: 1, consecutiveFailures: 1 });
      internet.letGo();
      if (engine.name === 'sqlite') return;

      // The line breaks at each of the COMMITs on the way of one event.
      const line = await FaultyServer.open(url, t);
      const faulty = await openEngine(t, line.url, internet, { name: 'faulty' });
      await one.stop();
      const healthy = await addWebhook(faulty, tenantId);
      let faults = 0;
      const breakNext = (): void => {
        faults += 1;
        line.nextCommit ??= faults % 2 === 0 ? 'lost_after' : 'lost_before';
      };
      let raised = 0;
      for (let index = 0; index < 12 || (raised < 6 && index < 200); index += 1) {
        breakNext();
        const isRaised = raise(faulty, tenantId, [{ subject: `n${index}` }]).then(() => 1);
        raised += await isRaised.catch(() => 0);
        breakNext();
        await pause(40);
      }
      line.nextCommit = null;
      const delivered = async () => {
        const events = await faulty.storage.connections.read('events').where('state', 0);
        const rows = (await deliveriesOf(faulty)).filter((row) => row.webhookId === healthy.id);
        return events.length === 0 && rows.every(({ state }) => state === 'delivered') && rows;
      };
      // So many broken connections may have opened the circuit breaker: reads are refused until it closes.
      const whileRefused = (error: unknown) => {
        if (error instanceof GatewayError && error.code === 'unavailable') return null;
        throw error;
      };
      const ended = await until('all to be delivered', () => delivered().catch(whileRefused));
      t.ok(ended.length >= 6, `${ended.length} events came through`);
      const events = ended.map(({ eventId }) => eventId);
      t.equal(new Set(events).size, events.length, 'one delivery for each');
      const [counted] = await faulty.storage.read.receivers.find([healthy.receiverId]);
      t.equal(counted?.health.totalSuccesses, ended.length, 'each counted once');
    });

    t.test('old deliveries go, and those of forgotten subjects', { buffered: true }, async (t) => {
      const { start } = await open(t);
      const one = await start({ settings: { logMs: 8_000 } });
      const tenantId = await addTenant(one);
      await addWebhook(one, tenantId);
      await raise(one, tenantId, [{ subject: 'kept' }, { subject: 'forgotten' }]);
      const rows = await until('the deliveries', async () => {
        const all = await deliveriesOf(one);
        return all.length === 2 && all.every(({ state }) => state === 'delivered') && all;
      });
      await one.run(async (unit) => {
        await unit.events.deleteOfSubjects(tenantId, ['forgotten']);
        await unit.deliveries.deleteOfSubjects(tenantId, ['forgotten']);
      });
      t.same(
        (await deliveriesOf(one)).map(({ subject }) => subject),
        ['kept'],
      );
      t.equal((await one.storage.read.events.present(rows.map((row) => row.eventId))).size, 1);
      await until(
        'the log to be empty',
        async () => (await deliveriesOf(one)).length === 0,
        20_000,
      );
    });

    t.test('an old delivery stays while it waits for a retry', { buffered: true }, async (t) => {
      const { internet, start } = await open(t);
      const one = await start({ settings: { logMs: 500, retryDelaysMs: [2_500] } });
      const tenantId = await addTenant(one);
      const hook = await addWebhook(one, tenantId, { retriesEnabled: true });
      internet.on(hook.url, ({ attempt }) => (attempt === 1 ? 500 : 204));
      await raise(one, tenantId, subjects(1, 'tried'));
      await until('the retry', async () => internet.at(hook.url).length === 2);
      await until('the log to be empty', async () => (await deliveriesOf(one)).length === 0);
    });

    t.test('an old delivery goes though it waits, once its event is old', async (t) => {
      const { internet, start } = await open(t);
      const settings = { logMs: 500, eventsMs: 6_000, retryDelaysMs: [3_600_000] };
      const one = await start({ settings });
      const tenantId = await addTenant(one);
      const hook = await addWebhook(one, tenantId, { retriesEnabled: true });
      internet.on(hook.url, () => 500);
      await raise(one, tenantId, subjects(1, 'waits'));
      const [first] = await until('the attempt', async () => {
        const all = await deliveriesOf(one);
        return all[0]?.attempts === 1 && all;
      });
      await until(
        'the log to be empty',
        async () => (await deliveriesOf(one)).length === 0,
        20_000,
      );
      const age = (await one.storage.now()) - (first?.createdAt ?? 0);
      t.ok(age >= 6_000, `kept for ${age} ms, as long as its event`);
    });

    t.test('receivers go once no subscription has them', { buffered: true }, async (t) => {
      const { internet, start } = await open(t);
      internet.on('https://slow.example/', internet.hang);
      t.teardown(internet.letGo);
      internet.on('https://due.example/', () => 503);
      const one = await start({ settings: { timeoutMs: 60_000, retryDelaysMs: [3_600_000] } });
      const tenantId = await addTenant(one);
      const [ended, moved, due, busy] = await Promise.all(
        ['ended', 'moved', 'due', 'slow'].map((name) =>
          addWebhook(one, tenantId, { url: `https://${name}.example/`, retriesEnabled: true }),
        ),
      );
      if (!ended || !moved || !due || !busy) throw new Error('four were made');
      const kept = await addWebhook(one, tenantId, { url: moved.url });
      await raise(one, tenantId, [{ subject: 'one' }]);
      await until('the attempts', async () => {
        const all = await deliveriesOf(one);
        const isTried = all.some(({ dueAt, attempts }) => dueAt !== null && attempts === 1);
        return isTried && all.filter(({ state }) => state === 'delivered').length === 3;
      });
      const gone = [ended, moved, due, busy];
      await one.run((unit) => unit.webhooks.delete(gone.map(({ id }) => id)));
      const left = async (before: number) => {
        await one.storage.submit(pruneReceivers, { before, limit: 1_000 });
        const found = await one.storage.read.receivers.find(gone.map((hook) => hook.receiverId));
        return found.map(({ url }) => url).sort();
      };
      const now = await one.storage.now();
      t.equal((await left(now - 3_600_000)).length, 4, 'not those that were in use of late');
      await until('a first to go', async () => (await left(now + 1)).length < 4);
      const stay = [due, moved, busy].map(({ url }) => url);
      t.same(await left(now + 1), stay, 'in use, due, or with a request open');
      internet.letGo();
      await until('the last to go', async () => (await left(now + 60_000)).length < 3);
      t.same(await left(now + 60_000), [due.url, moved.url]);
      t.same(await one.storage.read.webhooks.byIds([kept.id]), [kept]);
    });

    t.test('a receiver that is subscribed anew stays', { buffered: true }, async (t) => {
      const { start } = await open(t);
      const one = await start({ delivers: false });
      const other = await start({ delivers: false, name: 'other' });
      const tenantId = await addTenant(one);
      const lane = makeGrantLane(100, { open: (sealed) => sealed }, log);
      const url = 'https://agent.example/hook';
      const [from, to] = [receiverId(tenantId, url), one.storage];
      let pruned = 0;
      let isOver = false;
      const pruning = (async () => {
        while (!isOver) {
          const before = Date.now() + 60_000;
          pruned += await other.storage.submit(pruneReceivers, { before, limit: 10 });
        }
      })();
      for (let n = 0; n < 50; n += 1) {
        const id = `wh_sub_${n}`;
        const grant = { ...{ tenantId, id, url }, keyId: 'key', accountIds: null, ttlMs: null };
        await to.submit(lane, { ...grant, type: 'message.sent', sealedSecret: 's' });
        const found = await to.read.receivers.find([from]);
        if (found.length !== 1) t.fail('it is gone');
        await to.submit(unsubscribeLane, { tenantId, id });
      }
      isOver = true;
      await pruning;
      t.ok(pruned > 0, `${pruned} times it was gone before`);
    });
  });
}
