import { GatewayError } from '../../core/errors.ts';
import type { Webhook } from './tables/webhook-rows.ts';

/**
 * Slots of the test deliveries of this process: one for a subscription, `webhooks.concurrency` for a receiver. The
 * engine opens as many requests fewer.
 */
export class TestSlots {
  readonly #concurrency: number;
  readonly #webhooks = new Set<string>();
  readonly #receivers = new Map<string, number>();

  /** @param concurrency `webhooks.concurrency` */
  constructor(concurrency: number) {
    this.#concurrency = concurrency;
  }

  /** Tests that are open to a receiver. */
  open(receiverId: string): number {
    return this.#receivers.get(receiverId) ?? 0;
  }

  /**
   * Runs a test in a free slot.
   * @throws GatewayError `rate_limited` when no slot is free, and whatever `run` throws
   */
  async run<Made>({ id, receiverId }: Webhook, run: () => Promise<Made>): Promise<Made> {
    const open = this.open(receiverId);
    if (this.#webhooks.has(id) || open >= this.#concurrency) {
      const message = 'A test delivery to this receiver is still under way.';
      throw new GatewayError('rate_limited', { message, retryAfterS: 1 });
    }
    this.#webhooks.add(id);
    this.#receivers.set(receiverId, open + 1);
    try {
      return await run();
    } finally {
      this.#webhooks.delete(id);
      const left = this.open(receiverId) - 1;
      if (left === 0) this.#receivers.delete(receiverId);
      else this.#receivers.set(receiverId, left);
    }
  }
}
