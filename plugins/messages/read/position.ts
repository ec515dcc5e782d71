import type { Json } from '../../../core/contracts/json.ts';
import { GatewayError } from '../../../core/errors.ts';
import type { ListPosition } from '../tables/message-lists.ts';

/**
 * The position that a cursor of a list of messages holds.
 * @throws GatewayError `invalid_cursor`
 */
export function listPosition(position: Json): ListPosition {
  const [createdAt, id] = Array.isArray(position) ? (position as readonly Json[]) : [];
  if (typeof createdAt !== 'number' || typeof id !== 'string') {
    throw new GatewayError('invalid_cursor');
  }
  return { createdAt, id };
}
