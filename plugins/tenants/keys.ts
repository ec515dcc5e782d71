import { hash, randomBytes } from 'node:crypto';
import { newId } from '../../core/ids.ts';
import type { KeySettings, NewKey, TenantMode } from './contract.ts';
import type { HashedKey } from './tables/api-keys.ts';

/** A new key: its prefix shows the mode, 32 random bytes in base64url make it. */
export function newKey(mode: TenantMode): NewKey {
  return { id: newId('key'), key: `gw_${mode}_${randomBytes(32).toString('base64url')}` };
}

/** A key that was chosen outside, with an id of its own. */
export function presetKey(key: string): NewKey {
  return { id: newId('key'), key };
}

/** How a key is found: SHA-256 in hex. The keys are random, so a slow hash would protect nothing more. */
export function hashOf(key: string): string {
  return hash('sha256', key);
}

/** Whether a text has the form of a key; any other is refused without asking the database. */
export function looksLikeKey(text: string): boolean {
  return /^gw_(live|test)_[A-Za-z0-9_-]{43}$/.test(text);
}

/** A key without a name that may do everything with every account for ever. */
export const unlimited: KeySettings = {
  name: null,
  scopes: null,
  accountIds: null,
  expiresAt: null,
  confirmSends: false,
};

/** The key as it is stored. */
export function hashed(
  made: NewKey,
  tenantId: string,
  createdAt: number,
  settings: KeySettings = unlimited,
): HashedKey {
  return {
    id: made.id,
    tenantId,
    hash: hashOf(made.key),
    hint: hintOf(made.key),
    ...settings,
    createdAt,
    lastUsedAt: null,
    revokedAt: null,
  };
}

/** `gw_test_…abcd` */
function hintOf(key: string): string {
  return `${key.slice(0, 'gw_test_'.length)}…${key.slice(-4)}`;
}
