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
