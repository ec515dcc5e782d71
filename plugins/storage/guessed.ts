import type { Expectation, SingleRead } from '../../core/contracts/storage.ts';
import type { Spell } from './literals.ts';
import type { Statement } from './pipeline.ts';

/** A transaction that is carried out only if it finds what was expected. */
export interface Guessed {
  /** Takes the lock, and brings the moment at which it was taken. */
  readonly lock: SingleRead;
  readonly expected: readonly Expectation[];
  /** The moment must be so late at least, and before that. */
  readonly from: number;
  readonly before: number;
  /** Stands for the moment among the values of what is written, and is no other number there. */
  readonly standIn: number;
  readonly last: readonly Statement[];
}

/** What stands for the moment: no whole number of milliseconds, as every other is. */
export function standInOf(moment: number): number {
  return Math.trunc(moment) + 0.5;
}

/** The error number of a transaction that was not as expected: nothing was written then. */
export const missedNumber = 1644;

/** The words of such a transaction for MariaDB, which go on with what tells the moment and with COMMIT. */
export interface GuessedWords {
  /** Begin it, take the lock, read, and end it all by an error if something is not as expected. */
  readonly head: readonly string[];
  readonly writes: readonly string[];
}

/**
 * Puts it into words.
 * @param spell a value
 * @param textOf puts a statement into words
 * @throws Error when a value was computed from the stand-in
 */
export function guessedWords(
  { lock, expected, from, before, standIn, last }: Guessed,
  spell: Spell,
  textOf: (statement: Statement, spell: Spell) => string,
): GuessedWords {
  const found = expected.map((_, n) => `@found_${n}`);
  const dated: Spell = (value) => {
    if (value === standIn) return '@moment';
    if (typeof value === 'number' && !Number.isInteger(value)) {
      throw new Error('a value was computed from a moment that is only guessed');
    }
    return spell(value);
  };
  const proofs = [
    `@moment >= ${from} and @moment < ${before}`,
    // As bytes: a collation takes texts for equal that differ.
    ...expected.map(({ text }, n) => `${found[n]} = binary ${spell(text)}`),
  ];
  const head = [
    // A select that finds no row leaves what the transaction before it has found.
    `set ${['@moment', ...found].map((name) => `${name} = null`).join(', ')}`,
    'START TRANSACTION',
    textOf(into(lock, '@moment'), spell),
    ...expected.map((one, n) => textOf(into(one, found[n] ?? ''), spell)),
    // What was not found is null, and so is the proof.
    `IF not ifnull(${proofs.join(' and ')}, false) THEN SIGNAL SQLSTATE '45000'; END IF`,
  ];
  return { head, writes: last.map((statement) => textOf(statement, dated)) };
}

function into({ value, source, values, recurs }: SingleRead, variable: string): Statement {
  return { sql: `select ${value} into ${variable} ${source}`, bindings: values, recurs };
}
