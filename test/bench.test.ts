import t from 'tap';
import { inTurns, turnsOfRound, warmUps } from './bench/bench.ts';
import { Lanes } from './bench/floors/account/lanes.ts';
import { rowOf, tableOf } from './bench/report.ts';
import { median, percentile, spread } from './bench/statistics.ts';

t.test('medians, percentiles and spreads', async (t) => {
  t.equal(median([3, 1, 2]), 2);
  t.equal(median([4, 1, 2, 3]), 2.5);
  t.same(median([]), Number.NaN);
  const hundred = Array.from({ length: 100 }, (_, n) => n + 1);
  t.equal(percentile(hundred, 0.99), 99);
  t.equal(percentile([7], 0.5), 7);
  t.same(spread([2, 9, 4]), [2, 9]);
});

t.test(
  'both sides in turns, the one that begins alternating, after turns that do not count',
  async (t) => {
    const turns: string[] = [];
    const side = (name: string, rate: number) => async () => {
      turns.push(name);
      return { rate: rate * turns.length };
    };
    const run = { rounds: 2, count: Number, say: () => undefined, teardown: () => undefined };
    const found = await inTurns(run, side('gateway', 1), side('floor', 10));
    const before = 2 * warmUps;
    const first = turns.slice(before, before + 2 * turnsOfRound);
    t.same(first.slice(0, 4), ['floor', 'gateway', 'gateway', 'floor']);
    t.equal(first.filter((name) => name === 'floor').length, turnsOfRound);
    t.equal(turns.length, before + 2 * 2 * turnsOfRound);
    const told = { name: 'rate', unit: '/s', goal: { atLeast: 0.1 } };
    const placesOf = (name: string, from: number) =>
      turns.flatMap((one, n) =>
        one === name && n >= from && n < from + 2 * turnsOfRound ? n + 1 : [],
      );
    const rounds = [before, before + 2 * turnsOfRound];
    t.same(
      found.figure('rate', told),
      {
        ...told,
        gateway: rounds.map((from) => median(placesOf('gateway', from))),
        floor: rounds.map((from) => median(placesOf('floor', from)) * 10),
      },
      'each round the median of its turns',
    );
  },
);

t.test('a figure is judged by the median of its ratios, or by itself', async (t) => {
  const told = { name: 'rate', unit: '/s' };
  const compared = { ...told, gateway: [10, 30, 20], floor: [10, 10, 10] };
  const row = rowOf('accept', { ...compared, goal: { atLeast: 2 } });
  t.match(row, { gateway: 20, floor: 10, ratio: { median: 2, spread: [1, 3] }, reached: true });
  t.equal(rowOf('accept', { ...compared, goal: { atMost: 1.9 } }).reached, false);
  t.equal(rowOf('accept', { ...compared, goal: null }).reached, null);
  const alone = rowOf('start', { ...told, gateway: [2.5, 1], floor: null, goal: { atMost: 2 } });
  t.match(alone, { ratio: null, reached: true });
  const table = tableOf([row, { ...alone, reached: false }]).split('\n');
  t.match(
    table[2],
    /^\| accept +\| rate +\| 20 \/s +\| 10 \/s +\| 2 +\| 1 to 3 +\| ≥ 2 +\| reached \|$/,
  );
  t.match(
    table[3],
    /^\| start +\| rate +\| 1\.75 \/s +\| – +\| – +\| 1 to 2\.5 +\| ≤ 2 +\| MISSED +\|$/,
  );
  t.equal(new Set(table.map((line) => line.length)).size, 1, 'aligned');
});

t.test('the floor of an account has eight contacts under way, each with one message', async (t) => {
  const underWay = new Set<string>();
  const sent: string[] = [];
  let most = 0;
  let finished: () => void = () => undefined;
  const all = new Promise<void>((resolve) => {
    finished = resolve;
  });
  const lanes = new Lanes(async ({ id, to }) => {
    t.notOk(underWay.has(to), 'one at a time to a contact');
    underWay.add(to);
    most = Math.max(most, underWay.size);
    await new Promise(setImmediate);
    underWay.delete(to);
    sent.push(id);
    if (sent.length === 30) finished();
  });
  lanes.add(Array.from({ length: 30 }, (_, n) => ({ id: String(n), to: `${n % 10}`, text: '' })));
  await all;
  t.equal(most, 8);
  for (let contact = 0; contact < 10; contact += 1) {
    const own = sent.filter((id) => Number(id) % 10 === contact);
    t.same(own, [String(contact), String(contact + 10), String(contact + 20)], 'in order');
  }
});
