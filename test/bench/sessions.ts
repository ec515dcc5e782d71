import { setTimeout as sleep } from 'node:timers/promises';
import type { Teardown } from '../harness/processes.ts';
import { scraped } from '../harness/scrape.ts';
import { startSpanCollector } from '../harness/span-collector.ts';
import { tracing } from '../harness/tracing.ts';
import { alone } from './alone.ts';
import type { Bench, Figure } from './bench.ts';
import { type IdleAccounts, seedIdleAccounts } from './idle-accounts.ts';
import { liveSessions } from './live-sessions.ts';
import { computedMs, settledMemory } from './process-usage.ts';

/** In which what the start has left to do is done, milliseconds. */
const restMs = 60_000;
/** For how long the processor is watched while nothing happens, and between two scrapes meanwhile, milliseconds. */
const idleMs = 60_000;
const scrapeMs = 15_000;

/**
 * Simulated accounts that are connected and idle, in one process on the embedded database. What each of a thousand
 * holds of memory is compared with what each of a hundred does: a process of one counts as what they have in common.
 * Accounts of the real protocols are compared with the bare library.
 */
export const sessions: Bench = {
  name: 'sessions',
  about:
    '1,000 connected accounts, idle, in one process. Compared with: 100, and for idling with 1. Accounts of the real ' +
    'protocols: with what the bare library takes.',
  async run(run) {
    const counts = { one: 1, some: run.count(100), many: run.count(1_000) };
    const folders = {
      one: await seedIdleAccounts(run, counts.one),
      some: await seedIdleAccounts(run, counts.some),
      many: await seedIdleAccounts(run, counts.many),
      watched: await seedIdleAccounts(run, counts.many),
    };
    const rounds: Round[] = [];
    for (let round = 0; round < Math.min(run.rounds, 2); round += 1) {
      rounds.push(await alone((t) => measure(t, folders)));
      run.say(`round ${round + 1}: ${JSON.stringify(rounds.at(-1))}`);
    }
    return [...figures(rounds, counts), ...(await liveSessions(run))];
  },
};

type Size = 'one' | 'some' | 'many';
type BySize<Value> = Readonly<Record<Size, Value>>;
/** With everything on that watches over it, and that cleans up. */
type Side = Size | 'watched';
type BySide<Value> = Readonly<Record<Side, Value>>;
type Round = BySide<Idle>;

/** What a process takes while nothing happens. */
interface Idle {
  /** In use after a collection of the garbage, and resident then; kilobytes. */
  readonly held: number;
  readonly resident: number;
  /** Thousandths of one processor. */
  readonly computing: number;
}

/** Nothing of what an operator may have beside the work itself. */
const off = { GATEWAY_AUDIT__KEEP_DAYS: '0', GATEWAY_MESSAGES__KEEP_DAYS: '0' };

/** All of that: an audit and messages that end, and every span exported. */
async function on(t: Teardown): Promise<Readonly<Record<string, string>>> {
  const keep = { GATEWAY_AUDIT__KEEP_DAYS: '365', GATEWAY_MESSAGES__KEEP_DAYS: '30' };
  return { ...keep, ...(await tracing(t, (await startSpanCollector(t)).url)) };
}

/** All at the same time: they idle, so they do not disturb each other. */
async function measure(t: Teardown, folders: BySide<IdleAccounts>): Promise<Round> {
  const gateways = {
    one: await folders.one.start(t, off),
    some: await folders.some.start(t, off),
    many: await folders.many.start(t, off),
    watched: await folders.watched.start(t, await on(t)),
  };
  await sleep(restMs);
  const scrape = () => void scraped(gateways.watched.baseUrl);
  scrape();
  const scraping = setInterval(scrape, scrapeMs);
  const idle = async (side: Side): Promise<Idle> => {
    const { pid, output } = gateways[side];
    const before = computedMs(pid());
    await sleep(idleMs);
    const computing = ((computedMs(pid()) - before) / idleMs) * 1_000;
    const { held, resident } = await settledMemory({ pid: pid(), output });
    return { held: held / 1_024, resident: resident / 1_024, computing };
  };
  const sides = [idle('one'), idle('some'), idle('many'), idle('watched')] as const;
  const [one, some, many, watched] = await Promise.all(sides);
  clearInterval(scraping);
  return { one, some, many, watched };
}

function figures(rounds: readonly Round[], counts: BySize<number>): readonly Figure[] {
  const perSession = (size: Size, kind: 'held' | 'resident') =>
    rounds.map((round) => (round[size][kind] - round.one[kind]) / (counts[size] - counts.one));
  return [
    {
      name: `memory held per session, ${counts.many} and ${counts.some}`,
      unit: 'KB',
      gateway: perSession('many', 'held'),
      floor: perSession('some', 'held'),
      goal: { atMost: 1.2 },
    },
    {
      name: `resident memory per session, ${counts.many}`,
      unit: 'KB',
      gateway: perSession('many', 'resident'),
      floor: null,
      goal: null,
    },
    ...(['one', 'some', 'many'] as const).map((size) => ({
      name: `resident memory of a process, ${counts[size]}`,
      unit: 'MB',
      gateway: rounds.map((round) => round[size].resident / 1_024),
      floor: null,
      goal: null,
    })),
    {
      name: `idle, of one processor, ${counts.many} and 1`,
      unit: '‰',
      gateway: rounds.map(({ many }) => many.computing),
      floor: rounds.map(({ one }) => one.computing),
      goal: null,
    },
    {
      name: `idle, of one processor, ${counts.many}, with all that watches and cleans up`,
      unit: '‰',
      gateway: rounds.map(({ watched }) => watched.computing),
      floor: rounds.map(({ many }) => many.computing),
      goal: { atMost: 1.1 },
    },
  ];
}
