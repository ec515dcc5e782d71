import type { Broker, Release } from '../../../core/contracts/broker.ts';
import type { Json } from '../../../core/contracts/json.ts';
import type { Waits } from './waits.ts';

/** The topic on which every process hears that a tenant received something. */
const inboundTopic = 'inbound';

/** Notifies the waits of a tenant that it received something: those of this process at once, others through the broker. */
export class WaitNotifier {
  readonly #broker: Pick<Broker, 'processId' | 'toAll' | 'listen' | 'onReady'>;
  readonly #waits: Pick<Waits, 'wake' | 'rescan'>;

  constructor(
    broker: Pick<Broker, 'processId' | 'toAll' | 'listen' | 'onReady'>,
    waits: Pick<Waits, 'wake' | 'rescan'>,
  ) {
    this.#broker = broker;
    this.#waits = waits;
  }

  /** Notifies all waits of what is durable; what gets lost on the way to other processes is found by their rescan. */
  notify(tenantId: string): void {
    this.#waits.wake(tenantId);
    this.#broker.toAll(inboundTopic, { tenantId, from: this.#broker.processId });
  }

  /** Wakes the waits of this process for what others received, until released. */
  async listen(): Promise<Release> {
    const release = await this.#broker.listen(inboundTopic, (message) => this.#heard(message));
    this.#broker.onReady(() => this.#waits.rescan());
    return release;
  }

  #heard(message: Json): void {
    if (typeof message !== 'object' || message === null || !('tenantId' in message)) return;
    const { tenantId, from } = message;
    // Its own notices come back: they would wake the waits of those who have asked again.
    if (typeof tenantId !== 'string' || from === this.#broker.processId) return;
    this.#waits.wake(tenantId);
  }
}
