import type { AnyOperation } from '../../core/operation.ts';
import type { Connections } from './connections.ts';
import { chatappOperations } from './operations/chatapp.ts';
import { type ListParts, listAccounts } from './operations/list-accounts.ts';
import { msgappOperations } from './operations/msgapp.ts';

/** The operations of accounts and connections, in the specification's order. */
export function accountOperations(
  parts: ListParts,
  connections: Connections,
): readonly AnyOperation[] {
  return [listAccounts(parts), ...chatappOperations(connections), ...msgappOperations(connections)];
}
