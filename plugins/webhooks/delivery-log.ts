import type { Broker } from '../../core/contracts/broker.ts';
import type { Lane, Storage } from '../../core/contracts/storage.ts';
import type { GatewayLog } from '../../core/log.ts';
import { type MintAddress, withFreshMedia } from '../../core/media-reference.ts';
import { oneByOne } from '../../core/one-by-one.ts';
import { type DeliveryPage, type DeliverySearch, searchDeliveries } from './delivery-search.ts';
import { notifyOwners } from './engine/due-notices.ts';
import { makeReplayLane } from './replay.ts';
import type { DeliveryBacklog } from './tables/delivery-log.ts';
import type { Delivery } from './tables/delivery-rows.ts';
import type { Webhook } from './tables/webhook-rows.ts';

/** Deliveries of a deleted subscription that one transaction deletes. */
const portion = 500;

/** Lane that deletes the deliveries of a deleted subscription, one portion for each input. */
const deleteDeliveriesLane: Lane<string, number> = {
  name: 'webhooks.forget-webhook',
  maxBatch: 1,
  locks: () => [],
  run: oneByOne((unit, id) => unit.deliveries.deleteOfWebhook(id, portion)),
};

/** A delivery with the body that it carries; null once its event is gone, and while its contact is being forgotten. */
export interface LoggedDelivery {
  readonly delivery: Delivery;
  readonly payload: string | null;
}

/** Dependencies of the delivery log. */
export interface DeliveryLogParts {
  readonly storage: Pick<Storage, 'read' | 'submit'>;
  readonly broker: Broker;
  readonly log: GatewayLog;
  /** Aborted as soon as the gateway stops. */
  readonly stopping: AbortSignal;
  /** Makes an expiring address of stored media. */
  readonly mint: MintAddress;
}

/** The delivery log of subscriptions, for their operations. */
export class DeliveryLog {
  readonly #parts: DeliveryLogParts;
  readonly #replay: ReturnType<typeof makeReplayLane>;
  readonly #forgetting = new Set<Promise<void>>();

  constructor(parts: DeliveryLogParts) {
    this.#parts = parts;
    this.#replay = makeReplayLane((receivers) => notifyOwners(parts.broker, receivers));
  }

  /** A page of a subscription's log, newest first. */
  async page(webhookId: string, search: DeliverySearch): Promise<DeliveryPage<LoggedDelivery>> {
    const table = this.#parts.storage.read.deliveries;
    const { deliveries, next } = await searchDeliveries(table, webhookId, search);
    return { deliveries: await this.#withPayloads(deliveries), next };
  }

  /** What waits for its first attempt. */
  async backlog(webhookId: string): Promise<DeliveryBacklog> {
    return await this.#parts.storage.read.deliveries.backlog(webhookId);
  }

  /**
   * Makes a delivery due at once, attempted or not.
   * @throws GatewayError `delivery_not_found`, `invalid_request` for a test, or `invalid_event_type`
   */
  async replay(webhook: Webhook, deliveryId: string): Promise<LoggedDelivery> {
    const input = { webhookId: webhook.id, deliveryId };
    const output = await this.#parts.storage.submit(this.#replay, input);
    if ('refused' in output) throw output.refused;
    const [logged] = await this.#withPayloads([output.delivery]);
    return logged ?? { delivery: output.delivery, payload: null };
  }

  /**
   * Deletes the deliveries of a deleted subscription, in the background, as they may be many. Deliveries that a crash
   * leaves behind are deleted by age.
   */
  forget(webhookId: string): void {
    const forgetting = this.#forget(webhookId)
      .catch((error: unknown) => {
        this.#parts.log.warn(
          { err: error, webhook: webhookId },
          'deliveries of a deleted webhook could not be deleted',
        );
      })
      .finally(() => this.#forgetting.delete(forgetting));
    this.#forgetting.add(forgetting);
  }

  /** Waits for the deletions in the background. */
  async stop(): Promise<void> {
    await Promise.all(this.#forgetting);
  }

  async #forget(webhookId: string): Promise<void> {
    let deleted = portion;
    while (deleted === portion && !this.#parts.stopping.aborted) {
      deleted = await this.#parts.storage.submit(deleteDeliveriesLane, webhookId);
    }
  }

  async #withPayloads(deliveries: readonly Delivery[]): Promise<readonly LoggedDelivery[]> {
    const { storage, mint } = this.#parts;
    const eventIds = deliveries.map(({ eventId }) => eventId);
    const payloads = await storage.read.events.payloads(eventIds);
    return deliveries.map((delivery) => {
      const stored = payloads.get(delivery.eventId);
      return { delivery, payload: stored === undefined ? null : withFreshMedia(stored, mint) };
    });
  }
}
