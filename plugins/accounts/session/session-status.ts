import type { LinkRequest, LinkStep } from '../../../core/contracts/driver.ts';
import type { GatewayLog } from '../../../core/log.ts';
import { atMost } from '../../../core/waiting.ts';
import { accountTransition } from '../status.ts';
import type { AccountTrigger } from '../transitions.ts';
import type { SessionEnding } from './ending.ts';
import type { SessionEnvironment } from './environment.ts';
import type { SessionListeners } from './listeners.ts';
import { NamedTimers } from './named-timers.ts';
import type { OpenSession } from './open-session.ts';
import { Pairing } from './pairing.ts';
import type { Tries } from './tries.ts';

/** Pause before a status change is committed again after the database failed, milliseconds. */
const retryCommitMs = 500;

/** How long the end of a link waits until the answers before it are stored, milliseconds. */
const answersMs = 2_000;

/** Time that a send from before a reconnect still has for its answer, milliseconds. */
const forgottenMs = 60_000;

/** The longest timer until a restriction is checked by the database's clock: this process's may be wrong. Milliseconds. */
const longestRestMs = 60_000;

/** The network is out of reach, or was when it was last tried. */
type Loss = Extract<AccountTrigger, { type: 'lost' }>;

/** Dependencies of a session's status. */
export interface SessionStatusParts {
  readonly environment: SessionEnvironment;
  readonly live: OpenSession;
  readonly listeners: SessionListeners;
  readonly tries: Tries;
  readonly ending: SessionEnding;
  readonly log: GatewayLog;
  /** Runs in the queue of the states, unless the session is over by then. A failure is logged. */
  inStateQueue(take: () => Promise<void>): Promise<void>;
}

/** Changes the status of one session's account: commits the transition of each trigger, then acts on it. */
export class SessionStatus {
  readonly #parts: SessionStatusParts;
  readonly #timers: NamedTimers<'pairing' | 'restriction'>;
  #pairing: Pairing | null = null;
  /** The latest loss; null once the network is there. */
  #loss: Loss | null = null;

  constructor(parts: SessionStatusParts) {
    this.#parts = parts;
    this.#timers = new NamedTimers(parts.environment.timers);
  }

  /** Null when nothing is being paired. */
  get pairing(): Pairing | null {
    return this.#pairing;
  }

  /** Begins a pairing, which times out. */
  beginPairing(link: LinkRequest): void {
    const { environment, inStateQueue } = this.#parts;
    const { clock, settings } = environment;
    this.#pairing = new Pairing(link, clock.now() + settings.pairingTimeoutMs);
    this.#timers.later('pairing', settings.pairingTimeoutMs, () => {
      void inStateQueue(() => this.apply({ type: 'pairing_timeout' }));
    });
  }

  /**
   * Plans the end of the restriction that the record shows, if any.
   * @param leastMs the shortest time until then, by the database's clock where that is known
   */
  planRestrictionEnd(leastMs = 50): void {
    const { environment, live, inStateQueue } = this.#parts;
    this.#timers.cancel('restriction');
    const until = live.row.restrictedUntil;
    if (until === null) return;
    const wait = Math.min(Math.max(until - environment.clock.now(), leastMs), longestRestMs);
    this.#timers.later('restriction', wait, () => {
      void inStateQueue(async () => {
        const now = await environment.storage.now().catch((error: unknown) => {
          // The database is away.
          this.planRestrictionEnd(5_000);
          throw error;
        });
        const due = live.row.restrictedUntil;
        // This process's clock is ahead of the database's.
        if (due !== null && due > now) this.planRestrictionEnd(due - now);
        else await this.apply({ type: 'restriction_due', now });
      });
    });
  }

  /** Applies a trigger; resolves when its transition is durable. */
  async apply(trigger: AccountTrigger): Promise<void> {
    const { live, listeners, tries, ending, log } = this.#parts;
    if (trigger.type === 'lost') {
      // Set by the port already; a `connected` from before may have been taken in between.
      live.connected = false;
      // After the last code nothing is being linked: only a connect begins anew, and the timer ends the pairing.
      if (this.#pairing?.step?.type === 'expired') return;
      this.#loss = trigger;
      tries.lost(trigger.reason, trigger.retryAt);
      // A further try that failed alike: nothing to store.
      if (accountTransition(live.row, trigger)?.state === live.row) {
        this.#pairing?.take({ type: 'lost' });
        return;
      }
    }
    if (trigger.type === 'logged_out' || trigger.type === 'refused') {
      await atMost(answersMs, listeners.notify('storeAnswers'));
    }
    const before = live.row.status;
    const outcome = await this.#commit(trigger);
    const { status } = outcome.row;
    if (outcome.kind === 'refused') {
      log.warn({ trigger: trigger.type, status }, 'a status change was refused');
      return;
    }
    live.row = outcome.row;
    if (outcome.kind === 'claimed_elsewhere') {
      log.warn({}, 'the number is linked to another tenant: this link is given up');
      return ending.logOut(true);
    }
    if (status === 'disconnected') {
      // A device may be linked that is not connected here yet.
      return trigger.type === 'pairing_timeout' ? ending.logOut() : ending.close();
    }
    // Also behind a loss: the row may bring a hold that began meanwhile.
    this.planRestrictionEnd();
    if (trigger.type === 'lost') {
      this.#pairing?.take({ type: 'lost' });
      return;
    }
    if (trigger.type === 'connected') this.#nowConnected();
    if (live.connected) {
      void listeners.notify('ready');
    } else if (before === 'restricted' && status === 'connected') {
      // The restriction ended while the network was away: a try to reconnect is under way already.
      if (this.#loss !== null) live.row = (await this.#commit(this.#loss)).row;
    }
  }

  /** Takes a step of the linking: the network is there, whatever its last state was. */
  async takeStep(step: LinkStep): Promise<void> {
    if (this.#pairing !== null && this.#parts.live.row.reason !== null) {
      await this.apply({ type: 'reached' });
    }
    this.#pairing?.take({ type: 'step', step });
  }

  /** Ends timers and pairing: the session is over. */
  end(): void {
    this.#timers.cancelAll();
    this.#pairing?.take({ type: 'over' });
  }

  #nowConnected(): void {
    const { environment, live } = this.#parts;
    const giveUp = live.nowConnected();
    if (giveUp !== null) environment.timers.after(forgottenMs, giveUp);
    this.#loss = null;
    this.#parts.tries.connected();
    this.#timers.cancel('pairing');
    this.#pairing?.take({ type: 'connected' });
    this.#pairing = null;
  }

  /** Commits a transition; repeats while the database is away, for as long as the session is open. */
  async #commit(trigger: AccountTrigger) {
    const { environment, live, tries, ending } = this.#parts;
    const { storage, lanes, timers } = environment;
    for (;;) {
      ending.refuseWhenOver();
      try {
        const input = { fence: live.fence, trigger, tries: tries.failed };
        const outcome = await storage.submit(lanes.transition, input);
        ending.refuseWhenOver();
        if (outcome.kind !== 'fenced') return outcome;
        if (outcome.removed) {
          void ending.logOut(true);
        } else {
          environment.metrics.leaseLost('taken');
          this.#warn('fenced', {}, 'this session does not hold its lease any more: it is closed');
          void ending.close();
        }
      } catch (error) {
        ending.refuseWhenOver();
        const fields = { err: error, trigger: trigger.type };
        this.#warn('unstored', fields, 'a status change could not be stored: it is tried again');
        await new Promise<void>((resolve) => {
          timers.after(retryCommitMs, resolve);
        });
      }
    }
  }

  /** Warns of what befalls many sessions at once: where one has done so lately, the line is for debugging only. */
  #warn(kind: string, fields: object, message: string): void {
    const { environment, log } = this.#parts;
    const paced = environment.lines.take(kind);
    log[paced === null ? 'debug' : 'warn']({ ...fields, ...paced }, message);
  }
}
