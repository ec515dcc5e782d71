import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { type Broker, RequestUnanswered } from '../../../core/contracts/broker.ts';
import type { Json } from '../../../core/contracts/json.ts';
import { GatewayError } from '../../../core/errors.ts';
import { until } from '../../harness/story.ts';

/** Brokers of several processes that reach each other, fresh for each test. */
export interface BrokerWorld {
  /** One more process's broker, connected and ready. */
  open(): Promise<Broker>;
}

/** How often a message is handed out at most, whose handler always throws. */
const mostAttempts = 20;

/**
 * Exercises every clause of `core/contracts/broker.ts` that an implementation must keep. What a broker may do
 * (lose, repeat, reorder) is asserted nowhere: one message at a time is sent and waited for.
 * @param makeWorld called once for each test; whatever it opens ends with that test
 */
export function brokerContract(t: Test, makeWorld: (t: Test) => Promise<BrokerWorld>): void {
  const on = (name: string, run: (t: Test, world: BrokerWorld) => Promise<void>): void => {
    t.test(name, async (t) => run(t, await makeWorld(t)));
  };

  on('addresses differ, and each is ready', async (t, world) => {
    const [one, other] = [await world.open(), await world.open()];
    t.not(one.processId, other.processId);
    t.match(one.processId, /^.{1,40}$/, 'fits its column');
    t.ok(one.ready());
    let swept = 0;
    one.onReady(() => {
      swept += 1;
    });
    t.equal(swept, 0, 'not within the call');
    await until('the first sweep', async () => (swept > 0 ? true : undefined));
  });

  on('to the host of an account', async (t, world) => {
    const [sender, host] = [await world.open(), await world.open()];
    const got: Json[] = [];
    const behind: Json[] = [];
    await host.host('acc_0', (message) => {
      behind.push(message);
    });
    sender.toHost('acc_1', 'nobody hosts it');
    sender.toHost('acc_0', 'behind it');
    await arrived(behind, 1);
    const release = await host.host('acc_1', (message) => {
      got.push(message);
    });
    const message = { text: 'one', list: [1, null, true] };
    sender.toHost('acc_1', message);
    sender.toHost('acc_2', 'of another account');
    message.text = 'changed after it was sent';
    t.same(got, [], 'delivered later than the call');
    await arrived(got, 1);
    t.same(got, [{ text: 'one', list: [1, null, true] }], 'as it was when it was sent');
    host.toHost('acc_1', 'from itself');
    await arrived(got, 2);
    await release();
    sender.toHost('acc_1', 'after the release');
    await sleep(50);
    t.equal(got.length, 2);
  });

  on('to the hosts of several accounts', async (t, world) => {
    const [sender, one, other] = [await world.open(), await world.open(), await world.open()];
    const accounts = range(150).map((n) => `acc_${n}`);
    const got: Json[] = [];
    const hosting = accounts.map((account, n) =>
      (n % 3 === 0 ? one : other).host(account, (message) => {
        got.push([account, message]);
      }),
    );
    await Promise.all(hosting);
    sender.toHosts(accounts, { queued: 1 });
    await arrived(got, accounts.length);
    t.same(
      got.map(String).sort(),
      accounts.map((account) => String([account, { queued: 1 }])).sort(),
      'each handler once, with the whole message',
    );
    sender.toHosts(['acc_1', 'acc_999'], 'one of them is hosted nowhere');
    await arrived(got, accounts.length + 1);
    sender.toHosts([], 'nobody');
    await sleep(50);
    t.equal(got.length, accounts.length + 1);
  });

  on('an account moves from host to host', async (t, world) => {
    const [sender, first, second] = [await world.open(), await world.open(), await world.open()];
    const got: Json[] = [];
    for (const [turn, host] of [first, second, first].entries()) {
      const release = await host.host('acc_1', (message) => {
        got.push([turn, message]);
      });
      sender.toHost('acc_1', turn);
      await arrived(got, turn + 1);
      await release();
      await release();
    }
    sender.toHost('acc_1', 'to nobody');
    await sleep(50);
    t.same(
      got,
      range(3).map((turn) => [turn, turn]),
      'each to the host of its time',
    );
  });

  on('to one worker', async (t, world) => {
    const [sender, first, second] = [await world.open(), await world.open(), await world.open()];
    const got: Json[] = [];
    sender.toWorker('jobs', 0);
    let busy = 0;
    let busiest = 0;
    const work = async (message: Json): Promise<void> => {
      busy += 1;
      busiest = Math.max(busiest, busy);
      await sleep(5);
      busy -= 1;
      got.push(message);
    };
    const releaseFirst = await first.work('jobs', 2, work);
    await second.work('jobs', 2, work);
    for (let job = 1; job < 20; job += 1) sender.toWorker('jobs', job);
    await arrived(got, 20);
    t.same(
      [...got].sort((a, b) => Number(a) - Number(b)),
      range(20),
      'each exactly once',
    );
    t.ok(busiest <= 4, 'no more than the two prefetches at once');
    await releaseFirst();
    sender.toWorker('jobs', 20);
    await arrived(got, 21);
  });

  on('work outlives a worker that leaves in the middle', async (t, world) => {
    const [sender, worker] = [await world.open(), await world.open()];
    const release = await worker.work('jobs', 1, async () => {
      await sleep(20);
      throw new Error('never done');
    });
    sender.toWorker('jobs', 'unfinished');
    await sleep(40);
    await release();
    const got: Json[] = [];
    await sender.work('jobs', 1, (message) => {
      got.push(message);
    });
    await arrived(got, 1);
    t.same(got, ['unfinished']);
  });

  on('to all', async (t, world) => {
    const [sender, other] = [await world.open(), await world.open()];
    const got: Json[] = [];
    for (const broker of [sender, sender, other]) {
      await broker.listen('news', (message) => {
        got.push(message);
      });
    }
    sender.toAll('news', { of: 'today' });
    await arrived(got, 3);
    t.same(got, [{ of: 'today' }, { of: 'today' }, { of: 'today' }], 'the sender included');
  });

  on('a handler that throws gets the message again, and not for ever', async (t, world) => {
    const broker = await world.open();
    let calls = 0;
    await broker.listen('poison', () => {
      calls += 1;
      throw new Error('no');
    });
    const got: Json[] = [];
    await broker.host('acc_1', (message) => {
      got.push(message);
      if (got.length === 1) throw new Error('once more');
    });
    broker.toAll('poison', null);
    broker.toHost('acc_1', 'twice');
    await arrived(got, 2);
    t.same(got, ['twice', 'twice']);
    const settled = await until('the tries to end', async () => {
      const before = calls;
      await sleep(500);
      return before === calls && calls > 0 ? calls : undefined;
    });
    t.ok(settled <= mostAttempts, `${settled} tries`);
  });

  on('sending never throws', async (t, world) => {
    const broker = await world.open();
    const loop: { self?: unknown } = {};
    loop.self = loop;
    const notJson = loop as unknown as Json;
    broker.toHost('acc_1', notJson);
    broker.toWorker('jobs', notJson);
    broker.toAll('news', notJson);
    t.pass('all three came back');
  });

  on('requests', async (t, world) => {
    const [asker, asked] = [await world.open(), await world.open()];
    const release = await asked.serve('double', async (body) => ({ twice: Number(body) * 2 }));
    await asked.serve('refuse', async () => {
      throw new GatewayError('qr_expired', {
        message: 'Too late.',
        details: [{ path: 'body/x', message: 'no' }],
        retryAfterS: 7,
      });
    });
    await asked.serve('break', async () => {
      throw new Error('with a secret in it');
    });
    const ask = (subject: string, processId = asked.processId) =>
      asker.request(processId, subject, 21, 10_000);
    t.same(await ask('double'), { twice: 42 });
    t.same(await asked.request(asked.processId, 'double', 1, 10_000), { twice: 2 }, 'itself');
    const refusal = await ask('refuse').catch((error: unknown) => error);
    t.ok(refusal instanceof GatewayError);
    t.match(refusal, { code: 'qr_expired', message: 'Too late.', retryAfterS: 7 });
    t.match(refusal, { details: [{ path: 'body/x', message: 'no' }] });
    const broken = await ask('break').catch((error: unknown) => error);
    t.match(broken, { code: 'internal_error' });
    t.notMatch(String(broken), 'secret');
    t.match(await unanswered(ask('double', 'no-such-process')), /nobody_there|timeout/);
    await release();
    t.match(await unanswered(asker.request(asked.processId, 'double', 1, 300)), /nobody|timeout/);
  });

  on('a request past its deadline is given up on both sides', async (t, world) => {
    const [asker, asked] = [await world.open(), await world.open()];
    let aborted = false;
    await asked.serve('slow', async (_, { signal }) => {
      t.notOk(signal.aborted);
      await new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      aborted = true;
      return 'too late';
    });
    const begun = performance.now();
    t.equal(await unanswered(asker.request(asked.processId, 'slow', null, 2_000)), 'timeout');
    t.ok(performance.now() - begun < 8_000);
    await until('the handler to be told', async () => (aborted ? true : undefined));
  });
}

async function arrived(got: readonly Json[], count: number): Promise<void> {
  await until(`${count} messages`, async () => (got.length >= count ? true : undefined));
}

async function unanswered(asking: Promise<Json>): Promise<string> {
  const error = await asking.catch((error: unknown) => error);
  return error instanceof RequestUnanswered ? error.reason : `settled otherwise: ${String(error)}`;
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}
