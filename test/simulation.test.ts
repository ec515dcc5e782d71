import { readFile, writeFile } from 'node:fs/promises';
import t from 'tap';
import { contents } from '../config/tables.ts';
import { begin, Clock, type Walk } from './simulation/clock.ts';
import { costs } from './simulation/costs.ts';
import { Installation } from './simulation/installation.ts';
import { drain } from './simulation/simulate.ts';
import { Lane, Locks, Station } from './simulation/stations.ts';
import { bench, comparisonTable, costTable, own, scaleTable } from './simulation/tables.ts';

const page = new URL('../docs/scale.md', import.meta.url);

/** Work of a millisecond comes to one server at random moments, so often; answers for how long it waits on average. */
function waitOf(perMs: number): number {
  const clock = new Clock(7);
  const station = new Station(clock, 1);
  const count = 100_000;
  let inside = 0;
  const one = function* (): Walk {
    const since = clock.now;
    yield station.work(1);
    inside += clock.now - since;
  };
  const callers = function* (): Walk {
    for (let n = 0; n < count; n += 1) {
      yield clock.after(-Math.log(1 - clock.random()) / perMs);
      begin(one());
    }
  };
  begin(callers());
  clock.run(Number.MAX_SAFE_INTEGER);
  return inside / count - 1;
}

t.test('a station waits as queueing theory has it', async (t) => {
  // Pollaczek and Khinchine.
  for (const load of [0.3, 0.6, 0.8]) {
    const expected = load / (2 * (1 - load));
    const error = waitOf(load) / expected - 1;
    t.ok(Math.abs(error) < 0.05, `at a load of ${load}: ${error}`);
  }
});

t.test('a thread works on one thing at a time, on one of the cores', async (t) => {
  const clock = new Clock(1);
  const cores = new Station(clock, 2);
  const threads = [
    new Station(clock, 1, cores),
    new Station(clock, 1, cores),
    new Station(clock, 1, cores),
  ];
  const ended: number[] = [];
  for (const thread of threads)
    for (let n = 0; n < 2; n += 1) thread.work(1)(() => ended.push(clock.now));
  clock.run(10);
  t.same(ended, [1, 1, 2, 2, 3, 3]);
  t.same(
    [cores, ...threads].map(({ busyMs }) => busyMs),
    [6, 2, 2, 2],
  );
});

t.test('a lane decides together what comes meanwhile; a lock has one holder', async (t) => {
  const clock = new Clock(1);
  const locks = new Locks();
  const groups: (readonly number[])[] = [];
  const lanes = [1, 2].map(
    () =>
      new Lane<number>(clock, 0, function* (inputs) {
        yield locks.take('row');
        groups.push([clock.now, ...inputs]);
        yield clock.after(10);
        locks.release('row');
      }),
  );
  const answers: number[] = [];
  lanes[0]?.submit(1)(() => answers.push(clock.now));
  clock.run(5);
  for (const n of [2, 3]) lanes[0]?.submit(n)(() => answers.push(clock.now));
  lanes[1]?.submit(4)(() => answers.push(clock.now));
  clock.run(100);
  t.same(groups, [
    [0, 1],
    [10, 4],
    [20, 2, 3],
  ]);
  t.same(answers, [10, 20, 30, 30]);
});

t.test('every message that enters comes to its end, once, and leaves nothing behind', async (t) => {
  const setting = { ...bench, ...own, accounts: 200, tenants: 20, gateways: 3 };
  const installation = new Installation(new Clock(3), {
    ...setting,
    databaseCores: 2,
    brokerCores: 1,
  });
  const { clock, accepted, ended } = installation;
  const sampled: number[] = [];
  const callers = function* (): Walk {
    while (clock.now < 6_000) {
      yield clock.after(-Math.log(1 - clock.random()) * 5);
      begin(installation.send());
    }
  };
  begin(callers());
  for (let ms = 1; ms <= 6_000; ms += 1) {
    clock.run(ms);
    if (ms > 1_000) sampled.push(installation.entered - ended.length);
  }
  // Little: as many are inside on average as come while one is.
  const inside = sampled.reduce((sum, n) => sum + n, 0) / sampled.length;
  const stays = ended.filter(({ at }) => at > 1_000).map(({ ms }) => ms);
  const stay = stays.reduce((sum, ms) => sum + ms, 0) / stays.length;
  const error = inside / ((stays.length / 5_000) * stay) - 1;
  t.ok(Math.abs(error) < 0.03, `Little's law: ${error}`);
  clock.run(12_000);
  t.ok(installation.entered > 1_000);
  t.same([accepted.length, ended.length], [installation.entered, installation.entered]);
  const database = installation.database.busyMs;
  clock.run(13_000);
  t.ok(installation.database.busyMs - database < 100, 'only what idle processes do goes on');
});

t.test('cores are busy for as long as what passes them takes', async (t) => {
  const { rate, busy } = drain({ ...bench, hasSessions: false }, 1, 2_000);
  const [, database = 0] = busy;
  const expected = (rate / 1_000) * (costs.accept.ms + costs.send.ms);
  t.ok(Math.abs(database / expected - 1) < 0.02, `${database} cores, ${expected} expected`);
});

t.test('the same seed gives the same outcome', async (t) => {
  const run = () => drain({ ...bench, accounts: 40 }, 8, 300);
  t.same(run(), run());
});

t.test('docs/scale.md has the tables that the program prints', async (t) => {
  const comparison = comparisonTable();
  const tables = [costTable(), comparison, scaleTable()];
  if (process.env.UPDATE === '1') {
    let text = await readFile(page, 'utf8');
    for (const table of tables) text = replaced(text, table);
    await writeFile(page, text);
  }
  const text = await readFile(page, 'utf8');
  for (const table of tables) {
    t.ok(text.includes(`\n\n${table}\n\n`), `${headOf(table)}: UPDATE=1 npm test -- THIS FILE`);
  }
  const errors = [...comparison.matchAll(/(-?\d+) % \|$/gm)].map(([, error]) => Number(error));
  for (const error of errors) t.ok(Math.abs(error) <= 20, `${error} %, of 20 that the page allows`);
});

/** The text with the table in place of the one with the same titles. */
function replaced(text: string, table: string): string {
  const from = text.indexOf(headOf(table));
  if (from < 0) throw new Error(`docs/scale.md has no table ${headOf(table)}`);
  return text.slice(0, from) + table + text.slice(text.indexOf('\n\n', from));
}

function headOf(table: string): string {
  return table.slice(0, table.indexOf('\n'));
}

t.test('docs/scale.md says of every table how its rows belong to a tenant', async (t) => {
  const text = await readFile(page, 'utf8');
  const ways = ['account_id', 'contact_id', 'webhook_id'];
  const wayOf = ({ name, columns }: (typeof contents.schema)[number]) => {
    if (name === 'tenants' || 'tenant_id' in columns) return 'by `tenant_id`';
    const isFound = ways.some((column) => column in columns);
    return isFound ? 'through an account, a contact or a subscription' : 'to none';
  };
  for (const way of new Set(contents.schema.map(wayOf))) {
    const found = contents.schema.filter((table) => wayOf(table) === way);
    const names = found.map(({ name }) => `\`${name}\``).sort();
    t.ok(text.includes(`| ${way} | ${names.join(', ')} |`), `| ${way} | ${names.join(', ')} |`);
  }
});
