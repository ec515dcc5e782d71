import { setTimeout as sleep } from 'node:timers/promises';
import { doubled } from '../../../core/backoff.ts';
import type { Storage } from '../../../core/contracts/storage.ts';
import type { GatewayLog } from '../../../core/log.ts';
import { Loop } from '../../../core/loop.ts';
import type { Plans } from '../../tenants/contract.ts';
import type { Due } from '../engine/due-notices.ts';
import { makeStepLane } from './step-lane.ts';

/** How often recoveries are looked for that another process, or an earlier life of this one, has begun. */
const pollMs = 1_000;
/** Pauses while what was handed over is still under way: doubled from the first to the last. */
const firstFullMs = 5;
const lastFullMs = 500;

/** Dependencies of recoveries. */
export interface RecoveriesParts {
  readonly storage: Pick<Storage, 'read' | 'submit'>;
  readonly log: GatewayLog;
  readonly plans: Plans;
  /** Requests that a receiver gets at once; its recoveries take a quarter of them together. */
  readonly concurrency: number;
  readonly due: Due;
}

/**
 * Carries recoveries on, in every process that delivers: each step is a transaction that locks the recovery, so that
 * several processes take turns, and a process that dies leaves it to the others.
 */
export class Recoveries {
  readonly #parts: RecoveriesParts;
  readonly #loop: Loop;
  readonly #lane: ReturnType<typeof makeStepLane>;
  readonly #followed = new Map<string, Promise<void>>();
  #isStopped = false;

  constructor(parts: RecoveriesParts) {
    this.#parts = parts;
    const { concurrency, plans, due } = parts;
    const atOnce = Math.max(1, Math.floor(concurrency / 4));
    this.#lane = makeStepLane({ atOnce, plans, due });
    this.#loop = new Loop(
      () => pollMs,
      async () => this.#find(),
      (error) => parts.log.warn({ err: error }, 'reading the recoveries of webhooks failed'),
    );
  }

  start(): void {
    this.#loop.kick();
  }

  /** Waits for the steps under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#loop.stop();
    await Promise.all(this.#followed.values());
  }

  async #find(): Promise<void> {
    for (const id of await this.#parts.storage.read.recoveries.running()) {
      if (this.#followed.has(id)) continue;
      const followed = this.#follow(id)
        .catch((error: unknown) => {
          const { log } = this.#parts;
          log.warn({ err: error, webhook: id }, 'a recovery of a webhook failed, and goes on soon');
        })
        .finally(() => this.#followed.delete(id));
      this.#followed.set(id, followed);
    }
  }

  async #follow(webhookId: string): Promise<void> {
    let full = 0;
    while (!this.#isStopped) {
      const output = await this.#parts.storage.submit(this.#lane, webhookId);
      if (output === 'paused' || output === 'over') return;
      if (output === 'full') await sleep(doubled(firstFullMs, full, lastFullMs));
      full = output === 'full' ? full + 1 : 0;
    }
  }
}
