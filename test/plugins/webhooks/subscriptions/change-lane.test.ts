import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { newId } from '../../../../core/ids.ts';
import { pruneReceivers } from '../../../../plugins/webhooks/engine/upkeep.ts';
import { unsubscribeLane } from '../../../../plugins/webhooks/event-subscriptions/ending.ts';
import type { Change } from '../../../../plugins/webhooks/subscriptions/change.ts';
import { makeChangeLane } from '../../../../plugins/webhooks/subscriptions/change-lane.ts';
import { log } from '../../../fixtures/process.ts';
import { databases, engines } from '../../../harness/databases.ts';
import { until } from '../../messages/stage.ts';
import {
  addTenant,
  addWebhook,
  deliveriesOf,
  Internet,
  openEngine,
  raise,
} from '../engine-world.ts';
import { pausedHealth } from '../office.ts';

for (const engine of databases) {
  t.test(`a new webhook has no pause of those that left its URL, ${engine.name}`, async (t) => {
    const internet = new Internet();
    const one = await openEngine(t, (await engine.create(t)).url, internet);
    const tenantId = await addTenant(one);
    const lane = makeChangeLane({
      maxSubscriptions: 10,
      previousSecretMs: 1_000,
      log,
      notifyDue() {},
    });
    const submit = (id: string, change: Change) =>
      one.storage.submit(lane, { tenantId, id, change });
    const pausedAt = async (name: string, grant: { keyId: string; expiresAt: number } | null) => {
      const url = `https://${name}.example/hook`;
      const webhook = await addWebhook(one, tenantId, { url, grant, subscribedTo: [] });
      const paused = { id: webhook.receiverId, health: pausedHealth(1) };
      await one.run((unit) => unit.receivers.saveHealth([paused]));
      return webhook;
    };
    const grant = { keyId: 'key', expiresAt: Number.MAX_SAFE_INTEGER };
    const moved = await pausedAt('moved', null);
    const ended = await pausedAt('ended', grant);
    const called = await pausedAt('called', grant);
    const shared = await pausedAt('shared', null);

    const changes = { url: 'https://else.example/hook' };
    await submit(moved.id, { kind: 'update', changes });
    const [left] = await one.storage.read.receivers.find([moved.receiverId]);
    t.match(left?.health, { disabledAt: null, totalFailures: 0 }, 'as after a deletion');
    await one.storage.submit(unsubscribeLane, { tenantId, id: ended.id });
    for (const { url } of [moved, ended, called, shared]) {
      const subscribedTo = ['message.sent'] as const;
      const webhook = { ...moved, url, subscribedTo, name: null };
      await submit(newId('wh'), { kind: 'create', webhook });
    }

    await raise(one, tenantId, [{ subject: 'msg_1' }]);
    const rows = await until('the deliveries', async () => {
      const all = await deliveriesOf(one);
      return all.length === 4 && all.every(({ state }) => state !== 'waiting') && all;
    });
    const stateAt = ({ receiverId }: { readonly receiverId: string }) =>
      rows.find((row) => row.receiverId === receiverId)?.state;
    t.same([moved, ended].map(stateAt), ['delivered', 'delivered']);
    t.equal(stateAt(called), 'delivered', 'a pause of a callback over MCP is none of a webhook');
    t.equal(stateAt(shared), 'suppressed', 'a pause is shared with the webhooks that are there');
  });
}

t.test(
  'an event that happens as its webhook gets another URL goes there, though the former is pruned',
  async (t) => {
    // On SQLite no transaction begins within another.
    const { url } = await engines.mariadb.create(t);
    const internet = new Internet();
    const one = await openEngine(t, url, internet);
    const other = await openEngine(t, url, internet, { delivers: false, name: 'other' });
    const tenantId = await addTenant(one);
    const { id } = await addWebhook(one, tenantId);
    await pause(20);
    const before = await one.storage.now();
    await pause(20);
    const lane = makeChangeLane({
      maxSubscriptions: 10,
      previousSecretMs: 1_000,
      log,
      notifyDue() {},
    });
    const moved = 'https://moved.example/hook';

    await one.run(async (unit) => {
      const fanOut = await one.prepare(unit, [tenantId]);
      const changes = { url: moved };
      await other.storage.submit(lane, { tenantId, id, change: { kind: 'update', changes } });
      await other.storage.submit(pruneReceivers, { before, limit: 10 });
      const payload = { event: 'message.sent', subject: 'msg_1' };
      const event = { tenantId, type: 'message.sent', subject: 'msg_1', payload } as const;
      await fanOut(unit, [{ ...event, at: unit.now, first: true }]);
    });
    await until('the delivery', async () => {
      return (await deliveriesOf(one)).every(({ state }) => state === 'delivered');
    });
    t.same(
      internet.seen.map((seen) => seen.url),
      [moved],
    );
  },
);
