import type { Caller } from '../../../core/contracts/caller.ts';
import type { Lane, Storage } from '../../../core/contracts/storage.ts';
import { GatewayError } from '../../../core/errors.ts';
import { mayUse } from '../../../core/scopes.ts';
import type { Audit } from '../../audit/contract.ts';
import type { Egress } from '../../egress/contract.ts';
import type { Secrets } from '../../secrets/contract.ts';
import type { Plans } from '../../tenants/contract.ts';
import type {
  EventTarget,
  GrantedSubscription,
  McpEventSubscriptions,
  SubscriptionRefusal,
  WantedSubscription,
} from '../contract.ts';
import { mayUseWebhooks } from '../matching.ts';
import { signingSecretContext } from '../subscriptions/secret.ts';
import type { Challenges } from './challenges.ts';
import { unsubscribeLane } from './ending.ts';
import { type GrantInput, limitRefusal } from './grant.ts';
import type { GrantOutput } from './grant-lane.ts';
import { subscriptionId } from './subscription-id.ts';

/** Dependencies of subscriptions to MCP Events. */
export interface EventSubscriptionsParts {
  readonly storage: Pick<Storage, 'read' | 'submit'>;
  readonly grantLane: Lane<GrantInput, GrantOutput>;
  readonly challenges: Challenges;
  readonly secrets: Pick<Secrets, 'seal'>;
  readonly egress: Pick<Egress, 'refusal'>;
  readonly plans: Pick<Plans, 'plan'>;
  readonly audit: Pick<Audit, 'recording'>;
  /** `mcp.max_event_subscriptions` */
  readonly mostPerKey: number;
}

/** Makes the subscriptions to MCP Events of all keys. */
export function makeEventSubscriptions(parts: EventSubscriptionsParts): McpEventSubscriptions {
  const { storage, grantLane, challenges, secrets, egress, plans, audit, mostPerKey } = parts;

  /** What can be refused without asking the callback. */
  async function refusalOf(
    caller: Caller,
    { accountId, url }: EventTarget,
    limit: SubscriptionRefusal | null,
  ): Promise<SubscriptionRefusal | null> {
    if (!mayUseWebhooks(caller, plans)) return { kind: 'webhooks_not_enabled' };
    if (accountId !== null) {
      const [account] = await storage.read.accounts.find([accountId]);
      const isOwn = account?.tenantId === caller.tenantId && mayUse(caller, accountId);
      if (!isOwn) return { kind: 'account' };
    }
    const failure = await egress.refusal(url);
    // A host that cannot be looked up fails the challenge, or where none is needed each delivery, which is tried again.
    if (failure?.kind === 'blocked') return { kind: 'url', message: failure.message };
    return limit;
  }

  async function subscribe(
    caller: Caller,
    wanted: WantedSubscription,
    requestId: string,
  ): Promise<GrantedSubscription | { readonly refused: SubscriptionRefusal }> {
    const { tenantId, keyId } = caller;
    const { type, accountId, url, secret, ttlMs } = wanted;
    const id = subscriptionId(keyId, wanted);
    const ofTenant = await storage.read.eventSubscriptions.ofTenants([tenantId]);
    const own = ofTenant.filter(({ grant }) => grant?.keyId === keyId);
    const isThere = own.some((one) => one.id === id);
    const limit = isThere ? null : limitRefusal(ofTenant, keyId, mostPerKey);
    const refused = await refusalOf(caller, wanted, limit);
    if (refused !== null) return { refused };
    // The callback of a subscription has passed the challenge of its key.
    if (!own.some((one) => one.url === url)) {
      const callback = { subscriptionId: id, url, secrets: { current: secret, previous: null } };
      const failed = await challenges.refusal(caller, callback);
      if (failed !== null) return { refused: failed };
    }
    const grant: GrantInput = {
      ...{ tenantId, keyId, id, type, url, ttlMs },
      accountIds: accountId === null ? idsOf(caller) : [accountId],
      sealedSecret: secrets.seal(secret, signingSecretContext(id)),
    };
    const changed = { tenantId, target: id };
    const output = await audit.recording(
      { ...changed, actor: keyId, operation: 'events/subscribe', requestId },
      () => storage.submit(grantLane, grant),
      (granted) => (typeof granted === 'string' || 'limit' in granted ? null : changed),
    );
    if (output === 'no_tenant') throw new GatewayError('unauthorized');
    if ('limit' in output) return { refused: output };
    const { webhook, health, isPaused } = output;
    return {
      id,
      expiresAt: webhook.grant?.expiresAt ?? 0,
      health: {
        lastDeliveryAt: health?.lastSuccessAt ?? null,
        lastError: health?.lastFailure?.message ?? null,
        failingSince: health?.failingSince ?? null,
      },
      isPaused,
    };
  }

  return {
    subscribe,
    async unsubscribe({ tenantId, keyId }, target, requestId) {
      const id = subscriptionId(keyId, target);
      const own = await storage.read.eventSubscriptions.ofKeys([keyId]);
      if (!own.some((one) => one.id === id)) return;
      const changed = { tenantId, target: id };
      await audit.recording(
        { ...changed, actor: keyId, operation: 'events/unsubscribe', requestId },
        () => storage.submit(unsubscribeLane, { tenantId, id }),
        () => changed,
      );
    },
  };
}

function idsOf({ accountIds }: Caller): readonly string[] | null {
  return accountIds === null ? null : [...accountIds];
}
