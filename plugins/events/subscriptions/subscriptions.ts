import type {
  EventHandler,
  EventSubscriptions,
} from '../../../core/contracts/event-subscriptions.ts';
import type { Jobs } from '../../jobs/contract.ts';
import { jobOf, Subscription } from './subscription.ts';
import type { SubscriptionParts } from './tenant-pages.ts';

/** The subscriptions of this process. */
export class Subscriptions implements EventSubscriptions {
  readonly #jobs: Jobs;
  readonly #parts: Omit<SubscriptionParts, 'name' | 'handler'>;
  readonly #all: Subscription[] = [];

  constructor(jobs: Jobs, parts: Omit<SubscriptionParts, 'name' | 'handler'>) {
    this.#jobs = jobs;
    this.#parts = parts;
  }

  subscribe(name: string, handler: EventHandler): void {
    const subscription = new Subscription({ ...this.#parts, name, handler });
    const work: Parameters<Jobs['add']>[0]['work'] = ({ signal }) => subscription.run(signal);
    this.#jobs.add({ name: jobOf(name), everyMs: null, work });
    this.#all.push(subscription);
  }

  /** A tenant has new events. */
  wake(tenantId: string): void {
    for (const subscription of this.#all) subscription.notify(tenantId);
  }
}
