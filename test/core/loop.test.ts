import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { Loop } from '../../core/loop.ts';

t.test('a loop goes on after a failure, until it is stopped', async (t) => {
  const failures: unknown[] = [];
  let runs = 0;
  const loop = new Loop(
    () => 1,
    async () => {
      runs += 1;
      if (runs === 1) throw new Error('the first');
    },
    (error) => failures.push(error),
  );
  loop.rest();
  t.equal(runs, 0, 'the pause comes first');
  while (runs < 3) await pause(5);
  await loop.stop();
  const before = runs;
  loop.kick();
  await pause(20);
  t.equal(runs, before);
  t.match(failures, [{ message: 'the first' }]);
});

t.test('a kick during a run brings one more run, and stopping waits for the run', async (t) => {
  let runs = 0;
  let end = (): void => undefined;
  const loop = new Loop(
    () => 60_000,
    () => {
      runs += 1;
      return new Promise((resolve) => {
        end = resolve;
      });
    },
    (error) => t.error(error),
  );
  loop.kick();
  loop.kick();
  loop.kick();
  t.equal(runs, 1);
  end();
  await pause(5);
  t.equal(runs, 2);
  let stopped = false;
  const stopping = loop.stop().then(() => {
    stopped = true;
  });
  await pause(5);
  t.notOk(stopped);
  end();
  await stopping;
  t.equal(runs, 2);
});
