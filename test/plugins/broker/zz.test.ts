import t from 'tap';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLog } from '../../../core/log.ts';
import { RabbitmqWorld } from './rabbitmq-world.ts';
import type { Json } from '../../../core/contracts/json.ts';
const url = process.env.TEST_AMQP_URL ?? '';
const log = createLog('info', { write: (l) => { const o = JSON.parse(l); console.log(o.time % 1000000, o.connection?.slice(-9), o.queue, o.msg, o.err?.message); } });
for (let round = 0; round < 40; round++)
t.test(`round ${round}`, async (t) => {
  const world = new RabbitmqWorld(t, url);
  const quiet = round < 0 ? {} : { log };
  const [sender, first, second] = [await world.open(quiet), await world.open(quiet), await world.open(quiet)];
  sender.toWorker('jobs', 0);
  const got: Json[] = [];
  const work = async (message: Json): Promise<void> => { await sleep(5); got.push(message); };
  await first.work('jobs', 2, work); await second.work('jobs', 2, work);
  for (let job = 1; job < 20; job += 1) sender.toWorker('jobs', job);
  for (let i = 0; i < 100 && got.length < 20; i++) await sleep(100);
  const left = await world.look((ch) => ch.queueDeclare({ queue: world.topology.work('jobs'), passive: true })).catch(e => String(e));
  t.equal(got.length, 20, `${JSON.stringify(got)} ${JSON.stringify(left)}`);
});
