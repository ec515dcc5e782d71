import { type Bench, type Found, inTurns } from './bench.ts';
import { type Side, startSides } from './receive-sides.ts';
import { median } from './statistics.ts';

/** How many contacts write at the same time, each the next message once the network has taken the last. */
const writers = 64;

/** What contacts write in the simulated network, seen by clients that wait for it, on MariaDB and RabbitMQ. */
export const receive: Bench = {
  name: 'receive',
  about:
    'Written in the network to seen by a waiting client. Floor: the same network and clients, an INSERT each between.',
  async run(run) {
    const [gateway, floor] = await startSides(run);
    const many = run.count(1_500);
    const full = await inTurns(
      run,
      () => rate(gateway, many),
      () => rate(floor, many),
    );
    const few = run.count(50);
    const single = await inTurns(
      run,
      () => delay(gateway, few),
      () => delay(floor, few),
    );
    return [
      full.figure('rate', { name: 'received a second', unit: '/s', goal: { atLeast: 0.95 } }),
      single.figure('delay', {
        name: 'median delay, one at a time',
        unit: 'ms',
        goal: { atMost: 3.2 },
      }),
    ];
  },
};

/** From the first that is written to the last that is seen. */
async function rate(side: Side, count: number): Promise<Found<'rate'>> {
  const startedAt = performance.now();
  const seen: Promise<number>[] = [];
  const writer = async (): Promise<void> => {
    while (seen.length < count) {
      const message = side.write();
      seen.push(message.seen);
      await message.taken;
    }
  };
  await side.unlessFailed(Promise.all(Array.from({ length: writers }, writer)));
  const last = Math.max(...(await side.unlessFailed(Promise.all(seen))));
  return { rate: (count / (last - startedAt)) * 1_000 };
}

async function delay(side: Side, count: number): Promise<Found<'delay'>> {
  const delays: number[] = [];
  for (let n = 0; n < count; n += 1) {
    const startedAt = performance.now();
    const { seen, taken } = side.write();
    delays.push((await side.unlessFailed(seen)) - startedAt);
    await taken;
  }
  return { delay: median(delays) };
}
