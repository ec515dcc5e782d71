import type { Json } from './contracts/json.ts';
import { GatewayError } from './errors.ts';

/** A position in a list that is read newest first: what is older follows. */
export interface ListPosition {
  readonly createdAt: number;
  readonly id: string;
}

/**
 * The position that a cursor of such a list holds, as `[createdAt, id]`.
 * @throws GatewayError `invalid_cursor`
 */
export function listPosition(position: Json): ListPosition {
  const [createdAt, id] = Array.isArray(position) ? (position as readonly Json[]) : [];
  if (typeof createdAt !== 'number' || typeof id !== 'string') {
    throw new GatewayError('invalid_cursor');
  }
  return { createdAt, id };
}

/** Makes and reads the cursors of lists. */
export interface ListCursors {
  issue(operation: string, tenantId: string, position: Json): string;
  read(operation: string, tenantId: string, cursor: string, field?: string): Json;
}

/**
 * The position that the `before` of a query names; null without one.
 * @throws GatewayError `invalid_cursor`
 */
export function positionBefore(
  cursors: ListCursors,
  operation: string,
  tenantId: string,
  before: string | undefined,
): ListPosition | null {
  return before === undefined
    ? null
    : listPosition(cursors.read(operation, tenantId, before, 'before'));
}

/** The `next_cursor` of a page that ends with this item; null without one. */
export function nextCursor(
  cursors: ListCursors,
  operation: string,
  tenantId: string,
  last: ListPosition | null,
): string | null {
  return last === null ? null : cursors.issue(operation, tenantId, [last.createdAt, last.id]);
}

/** One page of items of which one more was read; `last` ends it where another page follows. */
export function pageOf<Item>(
  found: readonly Item[],
  limit: number,
): { readonly items: readonly Item[]; readonly last: Item | null } {
  const items = found.slice(0, limit);
  return { items, last: found.length > limit ? (items.at(-1) ?? null) : null };
}
