import type { Guess, Lane, Lock, Unit } from '../../../core/contracts/storage.ts';
import type { OpenStorage } from '../../../plugins/storage/storage.ts';
import { scratchOf } from './scratch.ts';

/** What a step of the counter has decided, and at which moment. */
export interface Counted {
  readonly value: number;
  readonly at: number;
}

/** How a counter is counted: each input is the id of the row that is written with it. */
export interface Counting {
  readonly lane: Lane<string, Counted, number>;
  /** What the next guess takes the counter for; null: there is none. */
  known: number | null;
  missed: number;
  /** How often `run` was begun, and how often the counter was read. */
  runs: number;
  reads: number;
  readonly signals: string[];
}

/** How a lane of a test differs. */
export interface Changes {
  readonly name?: string;
  readonly text?: string;
  readonly from?: number;
  readonly before?: number;
  readonly locks?: readonly Lock[];
  /** What `run` does besides. */
  readonly beside?: (unit: Unit) => Promise<unknown>;
}

/** Where the counter stands. */
export async function readCounter(tables: Parameters<typeof scratchOf>[0]): Promise<number> {
  return (await scratchOf(tables).value('counter')) ?? 0;
}

/** Reads a counter and writes the next value with a row for each input, on a guess where it knows the value. */
export function counting(changes: Changes = {}): Counting {
  const { name = 'counting', text = '', locks = ['tenant:ten_1'], beside } = changes;
  const guess = (value: number): Guess<Counted, number> => ({
    early: value,
    expected: [
      {
        value: 'value',
        source: 'from scratch where id = ?',
        values: ['counter'],
        recurs: true,
        text: String(value),
      },
    ],
    from: changes.from ?? 0,
    before: changes.before ?? Date.now() + 86_400_000,
    dated: (output, at) => ({ ...output, at }),
    missed: () => {
      counted.missed += 1;
      counted.known = null;
    },
  });
  const counted: Counting = {
    lane: {
      name,
      locks: () => locks,
      early: async (tables) => {
        counted.reads += 1;
        return await readCounter(tables);
      },
      guess: () => (counted.known === null ? null : guess(counted.known)),
      run: async (unit, ids, early) => {
        counted.runs += 1;
        await beside?.(unit);
        let value = early;
        const outputs = ids.map(() => {
          value += 1;
          return { value, at: unit.now };
        });
        const { db } = scratchOf(unit.withCommit);
        await db.insert(
          'scratch',
          ids.map((id, n) => ({ id, value: outputs[n]?.value ?? 0, note: text, at: unit.now })),
        );
        const rule = { key: ['id'], set: ['value', 'at'] };
        await db.upsert('scratch', [{ id: 'counter', value, at: unit.now }], rule);
        unit.afterCommit(() => {
          counted.signals.push(...ids);
          counted.known = value;
        });
        return outputs;
      },
      recover: async (unit, id) => {
        const [row] = await scratchOf(unit).db.rows<Counted>(
          'select value, at from scratch where id = ?',
          [id],
        );
        return row === undefined ? undefined : { value: row.value, at: Number(row.at) };
      },
    },
    known: null,
    missed: 0,
    runs: 0,
    reads: 0,
    signals: [],
  };
  return counted;
}

/** All rows of the counter's table, by id. */
export async function stored(storage: OpenStorage): Promise<Record<string, Counted>> {
  const rows = await scratchOf(storage.read).db.rows<Counted & { id: string }>(
    'select id, value, at from scratch order by id',
  );
  return Object.fromEntries(rows.map(({ id, value, at }) => [id, { value, at: Number(at) }]));
}
