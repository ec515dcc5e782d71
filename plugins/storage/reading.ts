import type { Tables } from '../../core/contracts/storage.ts';
import { faultOf, unavailable } from './faults.ts';

/**
 * Wraps the table objects that read outside of transactions: a read whose connection turns out to be
 * lost is repeated once, on another; then the caller is told `unavailable`.
 */
export function steadied(tables: Tables): Tables {
  const entries = Object.entries(tables).map(([name, table]) => [name, steadiedTable(table)]);
  // The same names with objects of the same types.
  return Object.fromEntries(entries) as Tables;
}

function steadiedTable<Table extends object>(table: Table): Table {
  return new Proxy(table, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return (...parameters: unknown[]) =>
        read(async () => Reflect.apply(member, target, parameters));
    },
  });
}

/**
 * Runs one read, and once more when the connection was lost.
 * @throws GatewayError `unavailable` when the database cannot be asked
 */
export async function read<Result>(query: () => Promise<Result>): Promise<Result> {
  try {
    return await query();
  } catch (error) {
    if (faultOf(error) === 'other') throw error;
  }
  try {
    return await query();
  } catch (error) {
    throw faultOf(error) === 'other' ? error : unavailable(error);
  }
}
