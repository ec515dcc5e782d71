import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto';
import type { Json } from '../../core/contracts/json.ts';
import { GatewayError } from '../../core/errors.ts';
import { wrongField } from '../../core/field-refusals.ts';
import type { Cursors } from './contract.ts';

const algorithm = 'aes-256-ctr';

/** Half of SHA-256, and the initialization vector of AES: nobody can try more than a few cursors a second. */
const macBytes = 16;

/** What one secret gives to cursors. */
interface CursorKey {
  readonly signing: Buffer;
  readonly encryption: Buffer;
}

/**
 * Makes the `cursors` of the container: the position as JSON, encrypted under a keyed hash of it, the operation and the
 * tenant (a synthetic initialization vector, RFC 5297). Whoever holds a cursor can neither read nor change it: the
 * position counts what a limited key may not see. The same position is the same cursor.
 * @param keys the current key, then previous ones whose cursors still count
 */
export function makeCursors(keys: readonly Buffer[]): Cursors {
  const cursorKeys = keys.map((signing) => ({ signing, encryption: hash(signing, 'encryption') }));
  const [current] = cursorKeys;
  if (current === undefined) throw new Error('cursors need a key');

  return {
    issue(operation, tenantId, position) {
      const json = Buffer.from(JSON.stringify(position), 'utf8');
      const mac = macOf(current, operation, tenantId, json);
      const cipher = createCipheriv(algorithm, current.encryption, mac);
      return Buffer.concat([mac, cipher.update(json)]).toString('base64url');
    },

    read(operation, tenantId, cursor, field) {
      const bytes = Buffer.from(cursor, 'base64url');
      // Node skips characters that are no base64url, so two texts could be the same cursor.
      if (bytes.length <= macBytes || bytes.toString('base64url') !== cursor) throw refusal(field);
      const mac = bytes.subarray(0, macBytes);
      for (const key of cursorKeys) {
        const decipher = createDecipheriv(algorithm, key.encryption, mac);
        const json = decipher.update(bytes.subarray(macBytes));
        if (!timingSafeEqual(mac, macOf(key, operation, tenantId, json))) continue;
        // The hash is ours, so `issue` made the value.
        return JSON.parse(json.toString('utf8')) as Json;
      }
      throw refusal(field);
    },
  };
}

function macOf({ signing }: CursorKey, operation: string, tenantId: string, json: Buffer): Buffer {
  const purpose = JSON.stringify([operation, tenantId]);
  return hash(signing, purpose, json).subarray(0, macBytes);
}

function hash(key: Buffer, ...parts: readonly (string | Buffer)[]): Buffer {
  const hmac = createHmac('sha256', key);
  for (const part of parts) hmac.update(part);
  return hmac.digest();
}

function refusal(field: string | undefined): GatewayError {
  if (field === undefined) return new GatewayError('invalid_cursor');
  return wrongField(`query/${field}`, 'is not a cursor of this operation', 'invalid_cursor');
}
