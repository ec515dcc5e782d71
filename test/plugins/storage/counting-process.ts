/**
 * A process of its own that opens the database named by its first argument, migrating it if need be, and
 * adds one to a counter as often as the second argument says, all at once.
 */
import type { Lane } from '../../../core/contracts/storage.ts';
import { openScratch, scratchOf } from './scratch.ts';

const [url = '', times = '0'] = process.argv.slice(2);
const teardowns: (() => Promise<void>)[] = [];
const storage = await openScratch(url, { teardown: (fn) => teardowns.push(fn) });
console.log('ready');
const lane: Lane<string, number> = {
  name: 'counting',
  maxBatch: 3,
  locks: () => ['tenant:ten_2', 'lease:acc_1'],
  run: (unit, inputs) => scratchOf(unit).increment(inputs),
};
await Promise.all(Array.from({ length: Number(times) }, () => storage.submit(lane, 'total')));
for (const teardown of teardowns) await teardown();
