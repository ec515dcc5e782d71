/**
 * A process of its own that keeps the tables of a plugin from outside in the database named by its first argument, and
 * adds one to a counter as often as the second argument says; `hang` stops it in the middle of the first step.
 */
import { counting, countLane, makeKept } from './outside-tables.ts';

const [url = '', times = '0'] = process.argv.slice(2);
const teardowns: (() => Promise<void>)[] = [];
const hanging = {
  name: '001-first',
  creates: counting.steps[0]?.creates ?? [],
  apply: async () => {
    console.log('halfway');
    await new Promise((resolve) => setTimeout(resolve, 30_000));
  },
};
const keeps = times === 'hang' ? { ...counting, steps: [hanging] } : counting;
const storage = await makeKept({ teardown: (fn) => teardowns.push(fn) }, url, keeps);
await Promise.all(
  Array.from({ length: Number(times) }, (_, n) => storage.submit(countLane, `it_${n % 2}`)),
);
for (const teardown of teardowns) await teardown();
