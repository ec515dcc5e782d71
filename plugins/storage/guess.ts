import type { Guess, Lane } from '../../core/contracts/storage.ts';
import { Executor } from './executor.ts';
import { faultOf, fitForLog, leavesCommitOpen } from './faults.ts';
import { standInOf } from './guessed.ts';
import type { Statement } from './pipeline.ts';
import { begin } from './transaction.ts';
import { CommitUnknown, signalAll, takingOf, type UnitParts } from './unit.ts';

/** What a batch has decided on a guess. */
interface Decided<Output> {
  readonly outputs: readonly Output[];
  readonly last: readonly Statement[];
  /** Runs what was meant for after the commit. */
  signal(): void;
}

/**
 * Decides a batch on the lane's guess, if it has one, in a transaction of one round trip, see `Lane.guess`.
 * @returns null where there is nothing to guess or it was not as expected: the batch is to be decided as ever
 * @throws CommitUnknown, or the database's error where that says more than that the guess did not do
 */
export async function runGuessed<Input, Output, Early>(
  parts: UnitParts,
  lane: Lane<Input, Output, Early>,
  inputs: readonly Input[],
): Promise<readonly Output[] | null> {
  if (lane.guess === undefined || parts.connections.dialect !== 'mysql') return null;
  const [lock, ...others] = takingOf(inputs.flatMap((input) => lane.locks(input)));
  // Rows of one table are found in one order; of several rows each would bring its own moment.
  if (lock === undefined || lock.values.length > 1 || others.length > 0) return null;
  const guess = lane.guess(parts.tables(silent()), inputs);
  if (guess === null) return null;
  const standIn = standInOf(Math.min(Math.max(Date.now(), guess.from), guess.before - 1));
  const decided = await decide(parts, lane, inputs, guess, standIn);
  if (decided === null) return null;
  const transaction = await begin(parts.connections);
  const { expected, from, before } = guess;
  const { last, signal } = decided;
  try {
    if (transaction.attempt === undefined) return null;
    const now = await transaction.attempt({ lock, expected, from, before, standIn, last });
    if (now === null) {
      guess.missed();
      return null;
    }
    signal();
    return decided.outputs.map((output) => guess.dated(output, now));
  } catch (error) {
    if (leavesCommitOpen(error)) throw new CommitUnknown(error, signal);
    if (faultOf(error) !== 'other') throw error;
    parts.log.debug({ err: fitForLog(error), lane: lane.name }, 'a guess was refused');
    return null;
  } finally {
    await transaction.rollBack();
  }
}

/** Runs the lane without a database: null when it wants to read, or fails, which it then does as ever. */
async function decide<Input, Output, Early>(
  { tables, committed, log }: UnitParts,
  lane: Lane<Input, Output, Early>,
  inputs: readonly Input[],
  guess: Guess<Output, Early>,
  standIn: number,
): Promise<Decided<Output> | null> {
  const executor = silent();
  const last: Statement[] = [];
  const signals: (() => void)[] = [];
  const unit = {
    ...tables(executor),
    now: standIn,
    withCommit: tables(executor.keeping(last)),
    afterCommit: (signal: () => void) => void signals.push(signal),
  };
  try {
    const outputs = await lane.run(unit, inputs, guess.early);
    if (outputs.length !== inputs.length) return null;
    for (const mark of executor.marks) signals.push(() => committed(mark));
    return { outputs, last, signal: () => signalAll(signals, log) };
  } catch {
    return null;
  }
}

/** An executor that refuses whatever it is asked. */
function silent(): Executor {
  const refuse = (): never => {
    throw new Error('on a guess nothing is read');
  };
  return new Executor(
    {
      ask: async () => refuse(),
      get knex() {
        return refuse();
      },
    },
    'mysql',
  );
}
