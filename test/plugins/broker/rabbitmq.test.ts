import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { Json } from '../../../core/contracts/json.ts';
import { until } from '../../harness/story.ts';
import { doneWithin } from '../../harness/times.ts';
import { serverUrl } from '../../servers/borrow.ts';
import { brokerContract } from './contract.ts';
import { jobs, RabbitmqWorld } from './rabbitmq-world.ts';

const url = await serverUrl('rabbitmq');

t.test('the contract', async (t) => {
  brokerContract(t, async (t) => {
    const world = new RabbitmqWorld(t, url);
    return { open: () => world.open() };
  });
});

t.test('work that keeps failing ends among the dead letters', async (t) => {
  const world = new RabbitmqWorld(t, url);
  const limits = { buffer: 100, attempts: 2, retryMs: 10 };
  const broker = await world.open({ limits });
  let calls = 0;
  await broker.work(jobs, 1, (message) => {
    calls += 1;
    if (message === 'poison') throw new Error('no');
  });
  broker.toWorker(jobs, 'poison');
  broker.toWorker(jobs, 'good');
  const dead = await until('the dead letter', () =>
    world.look(async (channel) => channel.basicGet({ queue: world.topology.dead, noAck: true })),
  );
  t.equal(dead.body, '"poison"');
  await until('the one behind it', async () => (calls >= 3 ? true : undefined));
  await sleep(100);
  t.equal(calls, 3, 'tried twice, and the good one once');
});

t.test('work on which workers die ends among the dead letters too', async (t) => {
  const world = new RabbitmqWorld(t, url);
  const sender = await world.open();
  sender.toWorker(jobs, 'deadly');
  await sender.work('other', 1, () => undefined);
  // A queue that was declared just now has no leader for a moment.
  await until('the work to stand in its queue', () =>
    world
      .look((channel) => channel.basicGet({ queue: world.topology.work(jobs) }))
      .catch(() => undefined),
  );
  const deliveries = await world.look(async (channel) => {
    for (let delivery = 0; ; delivery += 1) {
      const message = await until('a delivery', async () => {
        const dead = await channel.basicGet({ queue: world.topology.dead, noAck: true });
        return dead === undefined ? channel.basicGet({ queue: world.topology.work(jobs) }) : dead;
      });
      if (message.routingKey === world.topology.work(jobs) && message.exchange !== '') {
        return delivery;
      }
      channel.basicNack({ deliveryTag: message.deliveryTag, requeue: true });
    }
  });
  t.ok(deliveries > 3 && deliveries <= 25, `${deliveries} deliveries`);
  await world.look((channel) => channel.queueDelete({ queue: world.topology.work('other') }));
});

t.test('a work queue that somebody deleted comes back', async (t) => {
  const world = new RabbitmqWorld(t, url);
  const broker = await world.open();
  const got: Json[] = [];
  const taken = (count: number) =>
    until('the work', async () => (got.length === count ? true : undefined));
  await broker.work(jobs, 1, (message) => {
    got.push(message);
  });
  broker.toWorker(jobs, 1);
  await taken(1);
  const sender = await world.open();
  sender.toWorker(jobs, 2);
  await taken(2);
  await world.look((channel) => channel.queueDelete({ queue: world.topology.work(jobs) }));
  sender.toWorker(jobs, 3);
  await taken(3);
  t.same(got, [1, 2, 3]);
});

t.test('what is too much is dropped, what cannot be sent harms nobody', async (t) => {
  const world = new RabbitmqWorld(t, url);
  const limits = { buffer: 50, attempts: 1, retryMs: 10 };
  const broker = await world.open({ limits });
  const got: Json[] = [];
  await broker.work(jobs, 5, (message) => {
    got.push(message);
  });
  broker.toWorker(jobs, 'the first');
  // A queue that was declared just now has no leader for a moment; what it does not take is sent again, all of it.
  await until('the queue', async () => (got.length === 1 ? true : undefined));
  got.pop();
  broker.toHost('x'.repeat(300), 'no routing key is that long');
  for (let job = 0; job < 1_000; job += 1) broker.toWorker(jobs, job);
  await until('the buffer', async () => (got.length >= 50 ? true : undefined));
  await sleep(100);
  t.same(got.sort(), [...Array(50).keys()].sort(), 'what was in the buffer');
  broker.toWorker(jobs, 'afterwards');
  await until('the next', async () => (got.length === 51 ? true : undefined));
});

t.test('requests: nobody there is known at once', async (t) => {
  const world = new RabbitmqWorld(t, url);
  const [asker, gone] = [await world.open(), await world.open()];
  await gone.serve('known', async () => null);
  const ask = (processId: string, subject: string) =>
    asker.request(processId, subject, null, 30_000);
  const begun = performance.now();
  for (let n = 0; n < 3; n += 1) await ask(gone.processId, 'known');
  const answeredMs = performance.now() - begun;
  await doneWithin(t, 2_000 + answeredMs, 'known', async () => {
    await t.rejects(ask('nobody', 'any'), /nobody_there/);
    await t.rejects(ask(gone.processId, 'any'), /nobody_there/);
    await gone.close();
    await t.rejects(ask(gone.processId, 'any'), /nobody_there/);
  });
});

t.test('a closed broker carries nothing', async (t) => {
  const world = new RabbitmqWorld(t, url);
  const [broker, other] = [await world.open(), await world.open()];
  const got: Json[] = [];
  await other.listen('news', (message) => {
    got.push(message);
  });
  await broker.serve('never', () => new Promise(() => undefined));
  await broker.work(jobs, 1, () => new Promise(() => undefined));
  broker.toWorker(jobs, 'never ends');
  const asking = broker.request(broker.processId, 'never', null, 60_000);
  asking.catch(() => undefined);
  await sleep(100);
  broker.toAll('news', 'the last');
  await doneWithin(t, 4_000, 'closed, whatever its handlers do,', () => broker.close());
  await t.rejects(asking, /broker_down/);
  await broker.close();
  t.notOk(broker.ready());
  broker.toAll('news', 'after it');
  await t.rejects(broker.request(other.processId, 'any', null, 10), /broker_down/);
  await sleep(100);
  t.same(got, ['the last']);
  const unfinished: Json[] = [];
  await other.work(jobs, 1, (message) => {
    unfinished.push(message);
  });
  await until('the work of the other', async () => (unfinished.length > 0 ? true : undefined));
});
