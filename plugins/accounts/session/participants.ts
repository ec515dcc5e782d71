import type { OutboundMessage } from '../../../core/contracts/driver.ts';
import type { GatewayLog } from '../../../core/log.ts';
import type { LiveSession, SessionPart } from '../contract.ts';
import { contain } from './contain.ts';

/** The parts that take part in one session. What one of them throws is logged and reaches nobody else. */
export class Participants {
  readonly #parts: readonly SessionPart[];
  readonly #session: LiveSession;
  readonly #log: GatewayLog;

  constructor(parts: readonly SessionPart[], session: LiveSession, log: GatewayLog) {
    this.#parts = parts;
    this.#session = session;
    this.#log = log;
  }

  /** Tells all; resolves when those that answer a promise are done. */
  async tell(what: 'opened' | 'ready' | 'closed'): Promise<void> {
    await this.#each(what, (part) => part[what](this.#session));
  }

  wake(envelope: Parameters<SessionPart['wake']>[1]): void {
    void this.#each('wake', (part) => part.wake(this.#session.account.id, envelope));
  }

  /** @throws what the first part throws: the event is not durable then */
  async receive(event: Parameters<SessionPart['receive']>[1]): Promise<void> {
    for (const part of this.#parts) await part.receive(this.#session, event);
  }

  async sentMessage(reference: string): Promise<OutboundMessage | null> {
    for (const part of this.#parts) {
      const message = await part.sentMessage(this.#session, reference);
      if (message !== null) return message;
    }
    return null;
  }

  async #each(what: string, tell: (part: SessionPart) => unknown): Promise<void> {
    const failed = (error: unknown): void =>
      this.#log.error({ err: error, call: what }, 'a part of the session failed');
    await Promise.all(this.#parts.map((part) => contain(() => tell(part), failed)));
  }
}
