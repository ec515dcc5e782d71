import type { Unit } from '../../../core/contracts/storage.ts';
import type { GatewayLog } from '../../../core/log.ts';
import { logPauses } from '../pause-lines.ts';
import type { Webhook } from '../tables/webhook-rows.ts';
import type { Change, SubscriptionChange } from './change.ts';

/** Collects the changes of one transaction and writes them with a few statements. */
export class ChangeWriter {
  readonly #created = new Map<string, Webhook>();
  readonly #changed = new Map<string, Webhook>();
  readonly #deleted = new Set<string>();
  /** Subscriptions whose waiting deliveries are assigned to another receiver. */
  readonly #reassigned = new Map<string, Webhook>();
  /** Receivers of new URLs, by a subscription with each. */
  readonly #used = new Map<string, Webhook>();
  /** Receivers of former URLs. */
  readonly #left = new Set<string>();
  readonly #reset = new Set<string>();
  readonly #reenabled = new Set<string>();

  add(change: Change, { before, webhook, isDeleted }: SubscriptionChange): void {
    const { id, receiverId } = webhook;
    if (isDeleted) {
      for (const webhooks of [this.#created, this.#changed, this.#reassigned]) webhooks.delete(id);
      this.#deleted.add(id);
      this.#reset.add(receiverId);
      return;
    }
    if (before === null || this.#created.has(id)) this.#created.set(id, webhook);
    else if (before !== webhook) this.#changed.set(id, webhook);
    if (before?.receiverId !== receiverId) this.#used.set(receiverId, webhook);
    if (before !== null && before.receiverId !== receiverId) {
      this.#reassigned.set(id, webhook);
      this.#left.add(before.receiverId);
    }
    if (change.kind === 'update' && change.changes.url !== undefined) this.#reset.add(receiverId);
    if (change.kind === 'reenable') this.#reenabled.add(receiverId);
  }

  /** @param notifyDue called after the commit where something is due to another receiver now */
  async write(unit: Unit, log: GatewayLog, notifyDue: () => void): Promise<void> {
    const { webhooks, deliveries, receivers, now } = unit;
    // Deletions and renames come first: they free names for new subscriptions.
    await webhooks.delete([...this.#deleted]);
    await webhooks.save([...this.#changed.values()]);
    await webhooks.insert([...this.#created.values()]);
    // Lock order: deliveries, receivers.
    for (const { id, receiverId } of this.#reassigned.values()) {
      await deliveries.reassignWaiting(id, receiverId);
    }
    await receivers.ensure(
      [...this.#used.values()].map(({ receiverId, tenantId, url }) => ({
        id: receiverId,
        tenantId,
        url,
      })),
      now,
    );
    const reset = new Set([...this.#reset, ...(await this.#begunAnew(unit))]);
    const resumed = await receivers.find([...this.#reenabled, ...reset]);
    logPauses(unit, log, resumed, () => ({ disabledAt: null, disabledReason: null }));
    for (const id of [...this.#reenabled].sort()) await receivers.reenable(id, now);
    await receivers.reset([...reset].sort(), now);
    const woken = [...this.#reassigned.values()].map(({ receiverId }) => receiverId);
    await receivers.wake(woken, now);
    if (woken.length > 0) unit.afterCommit(notifyDue);
  }

  /**
   * Receivers without a subscription, or whose webhooks are all new (callbacks of MCP do not count): a former pause does
   * not concern those. The reset also keeps a receiver: whoever has read it before stores deliveries there yet, where
   * they are found, and moved.
   */
  async #begunAnew({ webhooks }: Unit): Promise<readonly string[]> {
    const created = [...this.#created.values()].map(({ receiverId }) => receiverId);
    const former = (await webhooks.ofReceivers([...this.#left, ...created])).filter(
      ({ id }) => !this.#created.has(id),
    );
    const shared = new Set(former.map(({ receiverId }) => receiverId));
    const withWebhook = new Set(
      former.filter(({ grant }) => grant === null).map(({ receiverId }) => receiverId),
    );
    return [
      ...[...this.#left].filter((id) => !shared.has(id)),
      ...created.filter((id) => !withWebhook.has(id)),
    ];
  }
}
