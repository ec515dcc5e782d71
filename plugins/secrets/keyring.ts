import { createHash, hkdfSync } from 'node:crypto';
import { StartRefusal } from '../../core/start-refusal.ts';

/** One secret of the gateway, with the short name in everything it sealed. */
export interface Key {
  readonly id: string;
  readonly bytes: Buffer;
}

/** The current key and, while keys are being changed, the previous one. */
export type Keyring = readonly [Key, ...Key[]];

/** A secret's length in bytes. */
export const secretBytes = 32;

/**
 * Reads the secrets of the configuration.
 * @param current 32 bytes in base64
 * @param previous the same, or null or empty when keys are not being changed
 * @throws StartRefusal that names the variable when a value is something else
 */
export function makeKeyring(current: string, previous: string | null | undefined): Keyring {
  const key = parseKey(current, 'GATEWAY_SECRET');
  if (!previous) return [key];
  const old = parseKey(previous, 'GATEWAY_SECRET_PREVIOUS');
  return old.id === key.id ? [key] : [key, old];
}

/** A key of 32 bytes for one purpose; keys of different purposes say nothing about each other. */
export function deriveKey(key: Key, purpose: string): Buffer {
  return Buffer.from(
    hkdfSync('sha256', key.bytes, '', `messaging-gateway ${purpose}`, secretBytes),
  );
}

function parseKey(text: string, variable: string): Key {
  const bytes = Buffer.from(text.trim(), 'base64');
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text.trim()) || bytes.length !== secretBytes) {
    throw new StartRefusal(
      `${variable} must be 32 bytes in base64; \`openssl rand -base64 32\` makes such a secret.`,
    );
  }
  const id = createHash('sha256').update('messaging-gateway key id').update(bytes).digest();
  return { id: id.subarray(0, 6).toString('base64url'), bytes };
}
