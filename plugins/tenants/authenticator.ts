import type { Authenticator, Caller } from '../../core/contracts/caller.ts';
import type { Tables } from '../../core/contracts/storage.ts';
import { GatewayError } from '../../core/errors.ts';
import { hashOf, looksLikeKey, unlimited } from './keys.ts';
import { RecentAnswers, type Remembering } from './recent-answers.ts';
import type { KeyOwner } from './tables/api-keys.ts';

/**
 * Finds callers by their keys' hashes and remembers them, wrong keys too, for as long as `remembering`
 * allows. A database that is away is `unavailable`, never a wrong key.
 * @param used called with each key that was found, again whenever what is remembered has run out
 */
export function keyAuthenticator(
  read: Tables,
  remembering: Remembering,
  used: (keyId: string) => void,
): Authenticator {
  const callers = new RecentAnswers<Caller | null>(async (hash) => {
    const owner = await orUnavailable(read.apiKeys.ownerOf(hash));
    if (owner === null) return null;
    used(owner.key.id);
    return toCaller(owner);
  }, remembering);
  const current = new RecentAnswers<boolean>(
    (keyId) => orUnavailable(read.apiKeys.isCurrent(keyId)),
    // Half as long: what asks now and then is late by its own pause, too.
    { ...remembering, maxAgeMs: remembering.maxAgeMs / 2 },
  );
  return {
    authenticate: async (key) => (looksLikeKey(key) ? callers.get(hashOf(key)) : null),
    forTenant: async (tenantId, keyId) => {
      const tenant = (await orUnavailable(read.tenants.find([tenantId]))).get(tenantId);
      const key = { ...unlimited, id: keyId };
      return tenant === undefined ? null : toCaller({ key, tenant });
    },
    isCurrent: (keyId) => current.get(keyId),
    forget: async (keyId) => {
      current.forget(keyId);
      const hash = await orUnavailable(read.apiKeys.hashOf(keyId));
      if (hash !== null) callers.forget(hash);
    },
  };
}

async function orUnavailable<Answer>(asked: Promise<Answer>): Promise<Answer> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    throw new GatewayError('unavailable', { retryAfterS: 1, cause: error });
  }
}

/** Null: the tenant is deleted. */
function toCaller({ key, tenant }: KeyOwner): Caller | null {
  if (tenant.status === 'deleted') return null;
  return {
    tenantId: tenant.id,
    keyId: key.id,
    mode: tenant.mode,
    plan: tenant.plan,
    status: tenant.status,
    disabled: new Set(tenant.disabled),
    scopes: key.scopes === null ? null : new Set(key.scopes),
    accountIds: key.accountIds === null ? null : new Set(key.accountIds),
    confirmSends: key.confirmSends,
  };
}
