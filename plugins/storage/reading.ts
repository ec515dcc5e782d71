import type { Tables } from '../../core/contracts/storage.ts';
import type { Breaker } from './breaker.ts';
import { faultOf, isWriteWhileReading, saysServerIsGone } from './faults.ts';

/**
 * Wraps the table objects that read outside of transactions: a read on a lost connection is repeated once, on another,
 * and then throws `unavailable`.
 */
export function steadied(tables: Tables, breaker: Breaker): Tables {
  const entries = Object.entries(tables).map(([name, table]) => [
    name,
    steadiedTable(table, breaker),
  ]);
  // The same names with objects of the same types.
  return Object.fromEntries(entries) as Tables;
}

function steadiedTable<Table extends object>(table: Table, breaker: Breaker): Table {
  return new Proxy(table, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return (...parameters: unknown[]) =>
        read(async () => Reflect.apply(member, target, parameters), breaker);
    },
  });
}

/**
 * Runs one read, and once more when its connection was lost.
 * @throws GatewayError `unavailable` when the database cannot be asked; at once while that is known
 */
export async function read<Result>(
  query: () => Promise<Result>,
  breaker: Breaker,
): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    const refusal = breaker.refusal('read');
    if (refusal !== null) throw refusal;
    try {
      const result = await query();
      breaker.recordSuccess();
      return result;
    } catch (error) {
      const fault = faultOf(error);
      if (fault === 'other' || isWriteWhileReading(error)) throw error;
      // No room for this read's temporary table, say: of writes that tells nothing.
      if (fault === 'unwritable') throw breaker.unavailable(error);
      breaker.recordFailure(error);
      if (tries === 2 || saysServerIsGone(error)) throw breaker.unavailable(error);
    }
  }
}
