import type { Clock } from '../../core/contracts/clock.ts';
import { GatewayError } from '../../core/errors.ts';
import type { Webhook } from './tables/webhook-rows.ts';

/** What bounds tests. */
interface TestLimits {
  /** `webhooks.concurrency` */
  readonly concurrency: number;
  /** `webhooks.timeout_s`, in milliseconds: no test takes longer. */
  readonly timeoutMs: number;
}

/** A test that is under way. */
interface OpenTest {
  readonly webhookId: string;
  readonly receiverId: string;
  /** When it has ended at the latest, by `clock.monotonic`. */
  readonly endsAt: number;
}

/**
 * Slots of the test deliveries of this process: one for a subscription, `webhooks.concurrency` for a receiver. The
 * engine opens as many requests fewer.
 */
export class TestSlots {
  readonly #limits: TestLimits;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #open = new Set<OpenTest>();

  constructor(limits: TestLimits, clock: Pick<Clock, 'monotonic'>) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Tests that are open to a receiver. */
  open(receiverId: string): number {
    return this.#to(receiverId).length;
  }

  /**
   * Runs a test in a free slot.
   * @throws GatewayError `rate_limited` when no slot is free, and whatever `run` throws
   */
  async run<Made>({ id, receiverId }: Webhook, run: () => Promise<Made>): Promise<Made> {
    const { concurrency, timeoutMs } = this.#limits;
    const all = this.#to(receiverId);
    const own = all.filter(({ webhookId }) => webhookId === id);
    if (own.length > 0) {
      throw this.#refusal('A test of this webhook is still under way: wait for its answer.', own);
    }
    if (all.length >= concurrency) {
      const message = `${all.length} tests of webhooks with this URL are still under way, as many as may be at once.`;
      throw this.#refusal(message, all);
    }
    const endsAt = this.#clock.monotonic() + timeoutMs;
    const test: OpenTest = { webhookId: id, receiverId, endsAt };
    this.#open.add(test);
    try {
      return await run();
    } finally {
      this.#open.delete(test);
    }
  }

  #to(receiverId: string): readonly OpenTest[] {
    return [...this.#open].filter((test) => test.receiverId === receiverId);
  }

  #refusal(message: string, inTheWay: readonly OpenTest[]): GatewayError {
    const first = Math.min(...inTheWay.map(({ endsAt }) => endsAt));
    const retryAfterS = (first - this.#clock.monotonic()) / 1000;
    return new GatewayError('rate_limited', { message, retryAfterS });
  }
}
