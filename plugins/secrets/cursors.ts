import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Json } from '../../core/contracts/json.ts';
import { GatewayError } from '../../core/errors.ts';
import type { Cursors } from './contract.ts';

/** Half of SHA-256: nobody can try more than a few cursors a second. */
const macBytes = 16;

/**
 * Makes the `cursors` of the container: the position as JSON behind a keyed hash of it, the operation
 * and the tenant. It can be read by whoever holds it, and not be changed.
 * @param keys the current key, then previous ones whose cursors still count
 */
export function makeCursors(keys: readonly Buffer[]): Cursors {
  const [current] = keys;
  if (current === undefined) throw new Error('cursors need a key');

  return {
    issue(operation, tenantId, position) {
      const json = JSON.stringify(position);
      const bytes = [mac(current, operation, tenantId, json), Buffer.from(json, 'utf8')];
      return Buffer.concat(bytes).toString('base64url');
    },

    read(operation, tenantId, cursor, field) {
      const bytes = Buffer.from(cursor, 'base64url');
      // Node skips characters that are no base64url, so two texts could be the same cursor.
      if (bytes.length <= macBytes || bytes.toString('base64url') !== cursor) throw refusal(field);
      const given = bytes.subarray(0, macBytes);
      const json = bytes.subarray(macBytes).toString('utf8');
      const good = keys.some((key) => timingSafeEqual(given, mac(key, operation, tenantId, json)));
      if (!good) throw refusal(field);
      // The hash is ours, so `issue` made the value.
      return JSON.parse(json) as Json;
    },
  };
}

function mac(key: Buffer, operation: string, tenantId: string, json: string): Buffer {
  const content = JSON.stringify([operation, tenantId, json]);
  return createHmac('sha256', key).update(content).digest().subarray(0, macBytes);
}

function refusal(field: string | undefined): GatewayError {
  if (field === undefined) return new GatewayError('invalid_cursor');
  const detail = { path: `query/${field}`, message: 'is not a cursor of this operation' };
  return new GatewayError('invalid_cursor', { details: [detail] });
}
