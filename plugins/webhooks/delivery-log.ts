import type { Lane, Storage } from '../../core/contracts/storage.ts';
import type { GatewayLog } from '../../core/log.ts';
import { type MintAddress, withFreshMedia } from '../../core/media-reference.ts';
import { replayLane } from './replay.ts';
import type { DeliveryFilter } from './tables/delivery-log.ts';
import type { Delivery } from './tables/delivery-rows.ts';
import type { Webhook } from './tables/webhook-rows.ts';

/** How many deliveries of a deleted subscription one transaction deletes. */
const portion = 500;

/** The lane that deletes what a subscription leaves behind, a portion of it for each input. */
const forgetLane: Lane<string, number> = {
  name: 'webhooks.forget-webhook',
  maxBatch: 1,
  locks: () => [],
  async run(unit, webhookIds) {
    const counts: number[] = [];
    for (const id of webhookIds) counts.push(await unit.deliveries.deleteOfWebhook(id, portion));
    return counts;
  },
};

/** A delivery with the body that it carries; null once its event is gone. */
export interface LoggedDelivery {
  readonly delivery: Delivery;
  readonly payload: string | null;
}

/** What delivery logs are made of. */
export interface DeliveryLogParts {
  readonly storage: Pick<Storage, 'read' | 'submit'>;
  readonly log: GatewayLog;
  /** Aborted as soon as the gateway stops. */
  readonly stopping: AbortSignal;
  /** Makes an address that expires of stored media. */
  readonly mint: MintAddress;
}

/** The delivery logs of subscriptions, as their operations work with them. */
export class DeliveryLog {
  readonly #parts: DeliveryLogParts;
  readonly #forgetting = new Set<Promise<void>>();

  constructor(parts: DeliveryLogParts) {
    this.#parts = parts;
  }

  /** A page of a subscription's log, newest first. */
  async page(webhookId: string, filter: DeliveryFilter): Promise<readonly LoggedDelivery[]> {
    return await this.#withPayloads(
      await this.#parts.storage.read.deliveries.list(webhookId, filter),
    );
  }

  /**
   * Makes a delivery due at once, attempted or not.
   * @throws GatewayError `delivery_not_found`, or `invalid_request` for a test
   */
  async replay(webhook: Webhook, deliveryId: string): Promise<LoggedDelivery> {
    const input = { webhookId: webhook.id, deliveryId };
    const output = await this.#parts.storage.submit(replayLane, input);
    if ('refused' in output) throw output.refused;
    const [logged] = await this.#withPayloads([output.delivery]);
    return logged ?? { delivery: output.delivery, payload: null };
  }

  /**
   * Deletes the deliveries of a subscription that is gone, in the background: they may be many. What a crash
   * leaves behind is deleted when it is too old.
   */
  forget(webhookId: string): void {
    const forgetting = this.#forget(webhookId)
      .catch((error: unknown) => {
        this.#parts.log.warn({ err: error, webhook: webhookId }, 'deliveries could not be deleted');
      })
      .finally(() => this.#forgetting.delete(forgetting));
    this.#forgetting.add(forgetting);
  }

  /** Resolves when nothing is deleted in the background any more. */
  async stop(): Promise<void> {
    await Promise.all(this.#forgetting);
  }

  async #forget(webhookId: string): Promise<void> {
    let deleted = portion;
    while (deleted === portion && !this.#parts.stopping.aborted) {
      deleted = await this.#parts.storage.submit(forgetLane, webhookId);
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
