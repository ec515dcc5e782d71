import type { OutboundMessage } from '../../../core/contracts/driver.ts';
import type { GatewayLog } from '../../../core/log.ts';
import type { LiveSession, SessionListener } from '../contract.ts';
import { contain } from './contain.ts';

/** The listeners of one session. What one of them throws is logged and reaches no other. */
export class SessionListeners {
  readonly #listeners: readonly SessionListener[];
  readonly #session: LiveSession;
  readonly #log: GatewayLog;

  constructor(listeners: readonly SessionListener[], session: LiveSession, log: GatewayLog) {
    this.#listeners = listeners;
    this.#session = session;
    this.#log = log;
  }

  /** Notifies all; resolves when those that answer a promise are done. */
  async notify(what: 'opened' | 'ready' | 'storeAnswers' | 'closed'): Promise<void> {
    await this.#each(what, (listener) => listener[what](this.#session));
  }

  wake(envelope: Parameters<SessionListener['wake']>[1]): void {
    void this.#each('wake', (listener) => listener.wake(this.#session.account.id, envelope));
  }

  /** Has all store an event. @throws what the first listener throws: the event is not durable then */
  async receive(event: Parameters<SessionListener['receive']>[1]): Promise<void> {
    for (const listener of this.#listeners) await listener.receive(this.#session, event);
  }

  async sentMessage(reference: string): Promise<OutboundMessage | null> {
    for (const listener of this.#listeners) {
      const message = await listener.sentMessage(this.#session, reference);
      if (message !== null) return message;
    }
    return null;
  }

  async #each(what: string, notify: (listener: SessionListener) => unknown): Promise<void> {
    const failed = (error: unknown): void =>
      this.#log.error({ err: error, call: what }, 'a listener of the session failed');
    await Promise.all(this.#listeners.map((one) => contain(() => notify(one), failed)));
  }
}
