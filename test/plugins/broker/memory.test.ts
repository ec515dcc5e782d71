import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { Json } from '../../../core/contracts/json.ts';
import { createLog } from '../../../core/log.ts';
import { MemoryHub } from '../../../plugins/broker/hub.ts';
import { MemoryBroker } from '../../../plugins/broker/memory.ts';
import { until } from '../../harness/story.ts';
import { unreliableBroker } from '../../harness/unreliable-broker.ts';
import { brokerContract } from './contract.ts';

const log = createLog('silent');

t.test('the contract', async (t) => {
  brokerContract(t, async (t) => {
    const hub = new MemoryHub();
    return {
      open: async () => {
        const broker = new MemoryBroker({ log, hub });
        t.teardown(() => broker.close());
        return broker;
      },
    };
  });
});

t.test('buffers are bounded', async (t) => {
  const limits = { buffer: 3, attempts: 1, retryMs: 1 };
  const broker = new MemoryBroker({ log, limits });
  t.teardown(() => broker.close());
  const got: Json[] = [];
  for (let job = 0; job < 10; job += 1) broker.toWorker('jobs', job);
  await broker.work('jobs', 1, (message) => {
    got.push(message);
  });
  await broker.listen('news', async (message) => {
    got.push(message);
    await sleep(5);
  });
  for (let news = 10; news < 20; news += 1) broker.toAll('news', news);
  await until('the last of the news', async () => got.includes(13) || undefined);
  await sleep(100);
  t.same(got.sort(), [0, 1, 10, 11, 12, 13, 2], 'three waiting jobs; one news and three waiting');
});

t.test('a closed broker carries nothing', async (t) => {
  const broker = new MemoryBroker({ log });
  await broker.serve('never', () => new Promise(() => undefined));
  const asking = broker.request(broker.processId, 'never', null, 60_000);
  let got = 0;
  await broker.listen('news', () => {
    got += 1;
  });
  await sleep(5);
  const closing = broker.close();
  await t.rejects(asking, /broker_down/);
  await closing;
  await broker.close();
  t.notOk(broker.ready());
  broker.toAll('news', null);
  await t.rejects(broker.request(broker.processId, 'never', null, 10), /broker_down/);
  await sleep(5);
  t.equal(got, 0);
});

t.test('many open requests are no leak', async (t) => {
  const broker = new MemoryBroker({ log });
  const warnings: string[] = [];
  const onWarning = ({ name }: Error): void => {
    warnings.push(name);
  };
  process.on('warning', onWarning);
  t.teardown(() => {
    process.off('warning', onWarning);
  });
  await broker.serve('later', async () => {
    await sleep(20);
    return null;
  });
  const ask = () => broker.request(broker.processId, 'later', null, 5_000);
  await Promise.all(Array.from({ length: 30 }, ask));
  await broker.close();
  t.same(warnings, []);
});

t.test('an unreliable broker drops, repeats and reorders', async (t) => {
  const reliable = new MemoryBroker({ log });
  t.teardown(() => reliable.close());
  // A small generator, so that every run sees the same faults.
  let seed = 7;
  const random = (): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed / 2_147_483_648;
  };
  const broker = unreliableBroker(reliable, { drop: 0.2, repeat: 0.2, reorder: 0.2, random });
  const got: number[] = [];
  await broker.listen('numbers', (message) => {
    got.push(Number(message));
  });
  for (let number = 0; number < 200; number += 1) broker.toAll('numbers', number);
  await sleep(200);
  const different = new Set(got).size;
  t.ok(different < 190 && different > 120, `${different} of 200 arrived`);
  t.ok(got.length > different, 'some twice');
  t.notSame(
    got,
    [...got].sort((a, b) => a - b),
    'some out of order',
  );
});
