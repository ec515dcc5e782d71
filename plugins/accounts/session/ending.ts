import type { GatewayLog } from '../../../core/log.ts';
import { atMost } from '../../../core/waiting.ts';
import { contain } from './contain.ts';
import type { Phase } from './credentials.ts';
import type { SessionListeners } from './listeners.ts';
import type { OpenSession } from './open-session.ts';
import { sessionRefusal } from './session-refusal.ts';

/** How long a log-out may take before the connection is cut, milliseconds. */
const logOutMs = 3_000;

/** Logged when a device may be left in the list of linked devices on the phone. */
export const stillLinked =
  "the device was not unlinked on the network: unlink it in the network's own app";

/** Dependencies of the end of a session. */
export interface SessionEndingParts {
  readonly live: OpenSession;
  readonly listeners: SessionListeners;
  readonly log: GatewayLog;
  /** Reports what a broken driver throws. */
  failed(call: string, error: unknown): void;
  /** Stops timers, tries and messages of the session. Called once, when the session is over. */
  release(): void;
  /**
   * Called once, when the session is over.
   * @param closed resolves when all it did is stored
   */
  onOver(closed: Promise<void>): void;
}

/** How one session ends: by a log-out from the network, or at once. */
export class SessionEnding {
  readonly #parts: SessionEndingParts;
  #leaving: Promise<void> | null = null;
  #over: Promise<void> | null = null;

  constructor(parts: SessionEndingParts) {
    this.#parts = parts;
  }

  get phase(): Phase {
    if (this.#over !== null) return 'over';
    return this.#leaving === null ? 'open' : 'leaving';
  }

  get isOpen(): boolean {
    return this.phase === 'open';
  }

  /** @throws GatewayError `connection_service_unreachable` when the session is over or leaving */
  refuseWhenOver(): void {
    if (!this.isOpen) throw sessionRefusal('the session is over');
  }

  /**
   * Logs out of the network, then closes: the account was removed, is linked anew or was not linked in time. Idempotent.
   * @param linked whether a device may be linked on the network
   */
  logOut(linked = this.#parts.live.row.linked): Promise<void> {
    // The phase changes before the driver is called: events that it then emits are refused.
    this.#leaving ??= Promise.resolve().then(() => this.#leave(linked));
    return this.#leaving;
  }

  /**
   * Ends a pairing that came to nothing. A device may be linked on the network already, which the gateway does not know of.
   * @param ended answers whether the record says so; with false, or a failure, another session may go on with the link
   */
  endPairing(ended: Promise<boolean>): Promise<void> {
    this.#leaving ??= ended.then(
      (isEnded) => (isEnded ? this.#leave(false) : this.close()),
      () => this.close(),
    );
    return this.#leaving;
  }

  /**
   * Cuts the connection at once, without a log-out and without a status change. Idempotent.
   * @returns resolves once the listeners have stored what they had under way
   */
  close(): Promise<void> {
    this.#over ??= this.#close();
    return this.#over;
  }

  async #leave(linked: boolean): Promise<void> {
    const { live, log, failed } = this.#parts;
    const { session } = live;
    const outcomes: unknown[] = [];
    if (session !== null && this.#over === null && live.isHeld()) {
      const leaving = contain(
        async () => outcomes.push(await session.logOut()),
        (error) => failed('logOut', error),
      );
      await atMost(logOutMs, leaving);
    }
    if (linked && !outcomes.includes('unlinked')) log.info({}, stillLinked);
    await this.close();
  }

  async #close(): Promise<void> {
    const { live, listeners, release, onOver } = this.#parts;
    live.end();
    release();
    const closed = listeners.notify('closed');
    onOver(closed);
    await closed;
  }
}
