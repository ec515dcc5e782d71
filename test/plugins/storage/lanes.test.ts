import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { contents } from '../../../config/tables.ts';
import type { Lane } from '../../../core/contracts/storage.ts';
import { CurrentRequest } from '../../../core/current-request.ts';
import { createLog } from '../../../core/log.ts';
import { makeStorage } from '../../../plugins/storage/storage.ts';
import { databases, engines } from '../../harness/databases.ts';
import { startProcess } from '../../harness/processes.ts';
import { addLockRows, openScratch, scratchOf } from './scratch.ts';

for (const { name, create } of databases) {
  t.test(name, async (t) => {
    const database = await create(t);
    const storage = await openScratch(database.url, t);
    await addLockRows(storage, ['ten_1', 'ten_2', 'acc_1']);

    t.test('what arrives together is decided together, in order', async (t) => {
      const batches: (readonly number[])[] = [];
      let clock = 0;
      const lane: Lane<number, number> = {
        name: 'grouping',
        maxBatch: 100,
        locks: () => ['tenant:ten_1'],
        run: async (unit, inputs) => {
          t.ok(unit.now >= clock && Math.abs(unit.now - Date.now()) < 5_000);
          clock = unit.now;
          batches.push(inputs);
          const rows = inputs.map((n) => ({ id: `n${String(n).padStart(4, '0')}`, value: n }));
          await scratchOf(unit).db.insert('scratch', rows);
          return inputs.map((n) => n * 2);
        },
      };
      const first = storage.submit(lane, 0);
      const answers = [first];
      // These come while the first batch is under way, or just before it.
      for (let n = 1; n < 250; n += 1) answers.push(storage.submit(lane, n));
      t.same(
        await Promise.all(answers),
        Array.from({ length: 250 }, (_, n) => n * 2),
      );
      t.same(
        batches.flat(),
        Array.from({ length: 250 }, (_, n) => n),
        'each once, in the order in which they came',
      );
      t.same(batches.map((batch) => batch.length).slice(0, 2), [100, 100], 'full batches');
      t.ok(batches.length <= 4, `${batches.length} transactions for 250 inputs`);
      t.equal((await scratchOf(storage.read).names()).length, 250, 'reads see what was committed');
      t.equal(await storage.submit(lane, 999), 1998, 'a later one does not wait for company');
    });

    t.test('refusals are values; a throw costs nobody else anything', async (t) => {
      const runs: number[] = [];
      const signals: string[] = [];
      const lane: Lane<string, string> = {
        name: 'failing',
        locks: () => [],
        run: async (unit, inputs) => {
          runs.push(inputs.length);
          const outputs: string[] = [];
          for (const input of inputs) {
            unit.afterCommit(() => signals.push(input));
            if (input === 'refused') {
              outputs.push('refused');
              continue;
            }
            await scratchOf(unit).db.insert('scratch', [{ id: input }]);
            if (input === 'thrown') throw new Error('a mistake in the code');
            outputs.push('stored');
          }
          return outputs;
        },
      };
      const inputs = ['one', 'refused', 'thrown', 'two', 'two', 'three'];
      const results = await Promise.allSettled(inputs.map((input) => storage.submit(lane, input)));
      t.same(
        results.map((result) => (result.status === 'fulfilled' ? result.value : 'rejected')),
        ['stored', 'refused', 'rejected', 'stored', 'rejected', 'stored'],
      );
      t.same(runs, [6, 1, 1, 1, 1, 1, 1], 'together, then one by one');
      t.same(signals, ['one', 'refused', 'two', 'three'], 'signals only of what was committed');
      const names = await scratchOf(storage.read).names();
      t.same(
        names.filter((id) => /^[a-z]+$/.test(id)),
        ['one', 'three', 'two'],
      );
    });

    t.test('what is done for several requests is logged as theirs', async (t) => {
      const lines: string[] = [];
      const log = createLog('warn', { write: (line) => void lines.push(line) });
      const logging = makeStorage({ url: database.url, ca: undefined, log, contents });
      const lane: Lane<null, null> = {
        name: 'logging',
        locks: () => [],
        run: async (_unit, inputs) => {
          log.warn('runs');
          if (inputs.length > 1) throw new Error('not together');
          return inputs;
        },
      };
      const submit = () => logging.submit(lane, null);
      const said = async (how: 'call' | 'follow') => {
        lines.length = 0;
        const requests = ['one', 'two'].map((id) => new CurrentRequest(id, null));
        await Promise.all([...requests.map((request) => request[how](submit)), submit()]);
        for (const request of requests) request.end();
        log.warn('ended');
        return lines.map((line) => {
          const { msg, requestId = null, requestIds = requestId } = JSON.parse(line);
          return [msg, requestIds];
        });
      };
      const failed = ['a batch failed: each input runs alone', ['one', 'two']];
      const none = ['runs', null];
      t.same(await said('call'), [none, failed, none, none, none, ['ended', null]]);
      t.same(await said('follow'), [
        ['runs', ['one', 'two']],
        failed,
        ...[['runs', 'one'], ['runs', 'two'], none, ['ended', null]],
      ]);
      await logging.close();
    });

    t.test('signals come after the commit and before the answer', async (t) => {
      const order: string[] = [];
      const lane: Lane<string, string> = {
        name: 'signalling',
        locks: () => [],
        run: async (unit, inputs) => {
          for (const input of inputs) {
            unit.afterCommit(() => {
              order.push(`signal ${input}`);
              if (input === 'a') throw new Error('nobody listens');
            });
          }
          await scratchOf(unit).set('signalled', 1);
          order.push('run');
          return inputs;
        },
      };
      await Promise.all(
        ['a', 'b'].map((input) =>
          storage.submit(lane, input).then((output) => order.push(`answer ${output}`)),
        ),
      );
      t.same(order, ['run', 'signal a', 'signal b', 'answer a', 'answer b']);
    });

    t.test('lanes do not wait for each other where the engine allows it', async (t) => {
      let running = 0;
      let most = 0;
      const slow = (laneName: string): Lane<number, number> => ({
        name: laneName,
        locks: () => [],
        run: async (_unit, inputs) => {
          running += 1;
          most = Math.max(most, running);
          const patience = name === 'sqlite' ? 3 : 500;
          for (let n = 0; n < patience && most < 2; n += 1) await sleep(10);
          running -= 1;
          return inputs;
        },
      });
      const [left, right] = [slow('left'), slow('right')];
      await Promise.all([
        storage.submit(left, 1),
        storage.submit(right, 1),
        storage.submit(left, 2),
        storage.submit(right, 2),
      ]);
      t.equal(most, name === 'sqlite' ? 1 : 2);
      t.throws(() => storage.submit(slow('left'), 1), /declare it once/);
      const short: Lane<number, number> = { name: 'short', locks: () => [], run: async () => [] };
      await t.rejects(storage.submit(short, 1), /0 outputs for 1 inputs/);
    });

    t.test('several transactions of a lane have no lock in common', async (t) => {
      const underWay = new Set<string>();
      let most = 0;
      const decided: string[] = [];
      const lane: Lane<string, string> = {
        name: 'several',
        maxConcurrent: 2,
        maxBatch: 4,
        locks: (input) => [`lease:${input[0]}`],
        run: async (_unit, inputs) => {
          const locks = new Set(inputs.map((input) => input[0] ?? ''));
          for (const lock of locks) t.notOk(underWay.has(lock), `${lock} is free`);
          for (const lock of locks) underWay.add(lock);
          most = Math.max(most, underWay.size);
          await sleep(5);
          decided.push(...inputs);
          for (const lock of locks) underWay.delete(lock);
          return inputs;
        },
      };
      const answers: Promise<string>[] = [];
      const inputs = ['a1', 'a2', 'b1', 'a3', 'c1', 'b2', 'c2', 'a4', 'b3', 'd1', 'a5', 'c3'];
      for (const input of inputs) {
        answers.push(storage.submit(lane, input));
        await sleep(1);
      }
      t.same(await Promise.all(answers), inputs);
      for (const lock of 'abcd') {
        const own = (all: readonly string[]) => all.filter((input) => input.startsWith(lock));
        t.same(own(decided), own(inputs), `${lock} in the order of arrival`);
      }
      t.ok(name === 'sqlite' || most > 1, 'two were under way');
    });

    t.test('a further transaction of a lane begins when one is held up', async (t) => {
      const batches: (readonly string[])[] = [];
      let release = (): void => undefined;
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      const lane: Lane<string, string> = {
        name: 'patient',
        maxConcurrent: 2,
        minIntervalMs: 200,
        locks: (input) => [`lease:${input}`],
        run: async (_unit, inputs) => {
          batches.push(inputs);
          if (inputs.includes('slow')) await sleep(50);
          if (inputs.includes('held')) await held;
          return inputs;
        },
      };
      const submit = async (input: string): Promise<string> => {
        const answer = storage.submit(lane, input);
        await sleep(10);
        return answer;
      };
      const first = submit('slow');
      await sleep(10);
      await Promise.all([first, submit('a'), submit('b')]);
      t.same(batches, [['slow'], ['a', 'b']], 'what comes meanwhile is gathered for the next one');

      const stuck = submit('held');
      await sleep(10);
      const other = submit('c');
      if (name === 'sqlite') release();
      t.equal(await other, 'c', 'past the one that is held up');
      release();
      t.equal(await stuck, 'held');
    });

    t.test('locks exclude another process', async (t) => {
      const other = await openScratch(database.url, t);
      const counting: Lane<string, number> = {
        name: 'counting',
        maxBatch: 3,
        locks: () => ['lease:acc_1', 'tenant:ten_2'],
        run: (unit, inputs) => scratchOf(unit).increment(inputs),
      };
      const alone = { ...counting };
      const file = 'test/plugins/storage/counting-process.ts';
      const processes = [1, 2].map(() => startProcess(t, [file, database.url, '40']));
      await Promise.all(processes.map((started) => started.waitFor(/ready/)));
      const all = await Promise.all(
        Array.from({ length: 120 }, (_, n) =>
          n % 2 === 0 ? storage.submit(counting, 'total') : other.submit(alone, 'total'),
        ),
      );
      t.equal(new Set(all).size, 120, 'no value was given out twice');
      for (const started of processes) t.same((await started.exit).code, 0, started.output);
      t.equal(await scratchOf(storage.read).value('total'), 200);
      await other.close();
    });

    t.test('the clock is read after the locks', async (t) => {
      const other = await openScratch(database.url, t);
      let release = 0;
      let held: () => void = () => undefined;
      const isHeld = new Promise<void>((resolve) => {
        held = resolve;
      });
      const holding: Lane<null, null> = {
        name: 'holding',
        locks: () => ['tenant:ten_1'],
        run: async (unit, inputs) => {
          held();
          await sleep(300);
          const [row] = await scratchOf(unit).db.rows<{ one: number }>('select 1 as one');
          t.equal(row?.one, 1);
          release = Date.now();
          return inputs.map(() => null);
        },
      };
      const waiting: Lane<null, number> = {
        name: 'waiting',
        locks: () => ['tenant:ten_1'],
        run: async (unit, inputs) => inputs.map(() => unit.now),
      };
      const first = storage.submit(holding, null);
      await isHeld;
      const now = await other.submit(waiting, null);
      await first;
      t.ok(now >= release - 5, `${now - release} ms after the release`);
      await other.close();
    });

    t.test('what goes on after a failure stays without effect', async (t) => {
      let goingOn: Promise<void> | undefined;
      const hasty: Lane<null, null> = {
        name: 'hasty',
        locks: () => ['tenant:ten_1'],
        run: async (unit) => {
          const { db } = scratchOf(unit);
          const straggler = async () => {
            for (let n = 0; n < 20; n += 1) await db.insert('scratch', [{ id: `s${n}`, value: n }]);
          };
          goingOn = straggler();
          const failing = db.rows('select 1').then(() => Promise.reject(new Error('no')));
          await Promise.all([goingOn, failing]);
          return [];
        },
      };
      await t.rejects(storage.submit(hasty, null), { message: 'no' });
      await t.rejects(goingOn ?? Promise.resolve(), /over|complete/);
      const stored = await scratchOf(storage.read).names();
      t.notOk(stored.includes('s0'), 'rolled back');
      t.same(
        stored.filter((id) => /^s\d/.test(id)),
        [],
        "and nothing is written on a connection that is another's",
      );
    });

    t.test('a failure before anything was sent holds no lock', async (t) => {
      const asking: Lane<null, null, void> = {
        name: 'asking',
        locks: () => ['tenant:ten_1'],
        prefetch: () => {
          throw new Error('prefetch');
        },
        run: async () => [null],
      };
      await t.rejects(storage.submit(asking, null), { message: 'prefetch' });
      const other = await openScratch(database.url, t);
      const lane: Lane<null, null> = {
        name: 'other',
        locks: () => ['tenant:ten_1'],
        run: async () => [null],
      };
      const start = performance.now();
      await other.submit(lane, null);
      const tookMs = performance.now() - start;
      t.ok(tookMs < 2_000, `the row was free after ${Math.round(tookMs)} ms`);
    });

    t.test('closing decides what was taken and refuses the rest', async (t) => {
      const closing = await openScratch(database.url, t);
      const lane: Lane<number, number> = {
        name: 'closing',
        maxBatch: 2,
        locks: () => [],
        run: async (_unit, inputs) => {
          await sleep(5);
          return inputs;
        },
      };
      const taken = Promise.all([1, 2, 3, 4, 5].map((n) => closing.submit(lane, n)));
      const closed = closing.close();
      await t.rejects(closing.submit(lane, 6), { code: 'unavailable' });
      t.same(await taken, [1, 2, 3, 4, 5]);
      await closed;
      await t.rejects(closing.ping());
      t.equal(closing.close(), closing.close(), 'closed once');
    });
  });
}

t.test('a stopped process does not block another for ever', async (t) => {
  const database = await engines.mariadb.create(t);
  const storage = await openScratch(database.url, t);
  const other = await openScratch(database.url, t);
  await addLockRows(storage, ['ten_1']);
  let runs = 0;
  const steps = new EventTarget();
  const [isBegun, hasPassed] = [once(steps, 'begun'), once(steps, 'passed')];
  const idle: Lane<string, number> = {
    name: 'idle',
    locks: () => ['tenant:ten_1'],
    run: async (unit, inputs) => {
      runs += 1;
      steps.dispatchEvent(new Event('begun'));
      if (runs === 1) await hasPassed;
      return await scratchOf(unit).increment(inputs);
    },
  };
  const quick: Lane<string, number> = {
    name: 'quick',
    locks: () => ['tenant:ten_1'],
    run: (unit, inputs) => scratchOf(unit).increment(inputs),
  };
  const stopped = storage.submit(idle, 'count');
  await isBegun;
  t.equal(await other.submit(quick, 'count'), 1, 'before the stopped one went on');
  steps.dispatchEvent(new Event('passed'));
  t.equal(await stopped, 2, 'which found its transaction gone and ran again');
  t.equal(runs, 2);
});
