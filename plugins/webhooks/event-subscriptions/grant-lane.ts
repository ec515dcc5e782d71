import type { Lane } from '../../../core/contracts/storage.ts';
import type { GatewayLog } from '../../../core/log.ts';
import type { Secrets } from '../../secrets/contract.ts';
import type { LimitRefusal } from '../contract.ts';
import { logPauses } from '../pause-lines.ts';
import { signingSecretContext } from '../subscriptions/secret.ts';
import type { Health } from '../tables/receiver-rows.ts';
import type { Webhook } from '../tables/webhook-rows.ts';
import { type GrantInput, granted, limitRefusal } from './grant.ts';

/** The subscription after the grant, with the health of its callback before it; or that there are too many, or its tenant is gone. */
export type GrantOutput =
  | {
      readonly webhook: Webhook;
      readonly health: Health | null;
      /** Whether the callback is paused still. */
      readonly isPaused: boolean;
    }
  | LimitRefusal
  | 'no_tenant';

/**
 * Lane that grants subscriptions. The tenant's lock makes the limits of key and tenant exact under concurrent calls, and a
 * secret that comes twice at once one change. A grant ends the pause of its callback, unless a webhook has the same URL:
 * that pause ends with the webhook's own re-enabling. Repeatable.
 * @param mostPerKey `mcp.max_event_subscriptions`
 */
export function makeGrantLane(
  mostPerKey: number,
  secrets: Pick<Secrets, 'open'>,
  log: GatewayLog,
): Lane<GrantInput, GrantOutput> {
  return {
    name: 'webhooks.grant',
    maxBatch: 32,
    locks: ({ tenantId }) => [`tenant:${tenantId}`],
    async run(unit, inputs) {
      const { webhooks, receivers, now } = unit;
      const present = await unit.tenants.present(inputs.map(({ tenantId }) => tenantId));
      const stored = await unit.eventSubscriptions.ofTenants(
        inputs.map(({ tenantId }) => tenantId),
      );
      const known = new Map(stored.map((webhook) => [webhook.id, webhook]));
      const isStored = new Set(known.keys());
      const touched = new Map<string, Webhook>();
      const results = inputs.map((input) => {
        if (!present.has(input.tenantId)) return 'no_tenant';
        const before = known.get(input.id) ?? null;
        const ofTenant = [...known.values()].filter((one) => one.tenantId === input.tenantId);
        const refusal = limitRefusal(ofTenant, input.keyId, mostPerKey);
        if (before === null && refusal !== null) return refusal;
        const open = (sealed: string) => secrets.open(sealed, signingSecretContext(input.id));
        const webhook = granted(before, input, now, open);
        known.set(webhook.id, webhook);
        touched.set(webhook.id, webhook);
        return webhook;
      });
      const all = [...touched.values()];
      await webhooks.save(all.filter(({ id }) => isStored.has(id)));
      await webhooks.insert(all.filter(({ id }) => !isStored.has(id)));
      await receivers.ensure(
        all.map(({ receiverId: id, tenantId, url }) => ({ id, tenantId, url })),
        now,
      );
      const found = await receivers.forChange(all.map(({ receiverId }) => receiverId));
      const disabled = found.filter(({ health }) => health.disabledAt !== null);
      const sharing = await webhooks.ofReceivers(disabled.map(({ id }) => id));
      const stayPaused = new Set(
        sharing.filter(({ grant }) => grant === null).map(({ receiverId }) => receiverId),
      );
      const paused = disabled.filter(({ id }) => !stayPaused.has(id));
      logPauses(unit, log, paused, () => ({ disabledAt: null, disabledReason: null }));
      for (const { id } of paused) await receivers.reenable(id, now);
      const healths = new Map(found.map(({ id, health }) => [id, health]));
      return results.map((webhook) => {
        if (typeof webhook === 'string' || 'limit' in webhook) return webhook;
        const { receiverId } = webhook;
        const health = healths.get(receiverId) ?? null;
        return { webhook, health, isPaused: stayPaused.has(receiverId) };
      });
    },
  };
}
