import {
  type ContactAddress,
  type DriverAccount,
  DriverError,
  type DriverEvent,
  type LinkRequest,
  type OutboundMessage,
  type Port,
  type Sent,
  type Session,
} from '../../core/contracts/driver.ts';
import { notConnected } from '../../core/contracts/driver-error.ts';
import { ConnectAttempt, type SharedParts } from './attempt.ts';
import { BlockFlag } from './block-flag.ts';
import type { LastEnding } from './close-codes.ts';
import type { FrameWork } from './connection.ts';
import { usersIn } from './contact-credentials.ts';
import { endingEventOf } from './ending-event.ts';
import { Erased } from './erased.ts';
import { errorText } from './error-text.ts';
import { handOverLeft } from './left-messages.ts';
import type { Library } from './library.ts';
import type { MsgappWebOptions } from './options.ts';
import { failedStart, libraryFor, newLink, type Prepared, storedLink } from './preparation.ts';
import { SentTo } from './sent-to.ts';
import { Throttle } from './throttle.ts';

/** How long leaving the network may take, in milliseconds: less than the gateway waits for the outcome. */
const logOutTimeoutMs = 2_500;

/** One account's link to the network: at most one connection at a time. */
export class MsgappWebSession implements Session {
  readonly #options: MsgappWebOptions;
  readonly #account: DriverAccount;
  readonly #port: Port;
  readonly #block: BlockFlag;
  readonly #erased: Erased;
  /** What all attempts have in common. */
  readonly #shared: SharedParts;
  /** What is under way or live. */
  #attempt: ConnectAttempt | null = null;
  /** Aborted by the next call that begins something: an older one that is still preparing gives up. */
  #turn = new AbortController();
  /** The timer of the next check whether a restriction is over. */
  #check: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(options: MsgappWebOptions, account: DriverAccount, port: Port, frames: FrameWork) {
    this.#options = options;
    this.#account = account;
    this.#port = port;
    this.#block = new BlockFlag(port.credentials);
    this.#erased = new Erased(port.credentials);
    const kept = { throttle: new Throttle(), sentTo: new SentTo() };
    this.#shared = { options, frames, account, port, ...kept, erased: this.#erased };
  }

  async link(request: LinkRequest): Promise<void> {
    const { credentials } = this.#port;
    await this.#begin((library) => newLink(library, credentials, request, this.#erased));
  }

  async resume(): Promise<void> {
    await this.#begin((library) => storedLink(library, this.#port.credentials));
  }

  async answer(): Promise<never> {
    throw new DriverError('not_asked', 'this network asks for nothing', { certain: true });
  }

  async send(message: OutboundMessage, signal: AbortSignal): Promise<Sent> {
    if (this.#attempt === null) throw notConnected();
    return await this.#attempt.send(message, signal);
  }

  async typing(to: ContactAddress): Promise<void> {
    await this.#attempt?.typing(to);
  }

  async logOut(): Promise<'unlinked' | 'still_linked'> {
    let outcome: 'unlinked' | 'still_linked' = 'still_linked';
    try {
      if (!this.#closed) await this.#leave(AbortSignal.timeout(logOutTimeoutMs));
      outcome = 'unlinked';
    } catch (error) {
      // The gateway says it where the user sees it.
      const fields = { accountId: this.#account.id, error: errorText(error) };
      this.#port.log.debug(
        fields,
        'could not log out: the device stays on the list of linked devices',
      );
    } finally {
      this.#cut();
    }
    this.#erased.reset();
    await this.#port.credentials.clear().catch(() => undefined);
    return outcome;
  }

  forget(names: readonly string[]): void {
    const users = usersIn(names);
    this.#attempt?.forget(names, users);
    this.#shared.sentTo.forget(users);
    this.#erased.add(users);
  }

  close(): void {
    this.#closed = true;
    this.#block.close();
    this.#erased.close();
    this.#cut();
  }

  #cut(): void {
    this.#turn.abort();
    this.#turn = new AbortController();
    if (this.#check !== null) clearTimeout(this.#check);
    this.#check = null;
    this.#attempt?.cut();
    this.#attempt = null;
  }

  /**
   * Ends what was under way and connects with what `prepare` gives; null: the link is gone.
   * @param quiet whether only a change of state is reported: a check whether a restriction is over
   */
  async #begin(
    prepare: (library: Library) => Promise<Prepared | null>,
    quiet = false,
  ): Promise<void> {
    this.#cut();
    const { signal } = this.#turn;
    const superseded = (): boolean => this.#closed || signal.aborted;
    if (superseded()) return;
    try {
      const library = await libraryFor(this.#options, this.#port.proxy);
      if (superseded()) return;
      const prepared = await prepare(library);
      if (superseded()) return;
      if (prepared === null) {
        await this.#report({
          type: 'state',
          state: 'logged_out',
          reason: 'session_lost',
          detail: 'The credentials of this session are gone: connect it again.',
        });
        return;
      }
      this.#attempt = this.#connect(prepared, quiet);
    } catch (error) {
      if (superseded()) return;
      this.#warn(error, 'a session could not begin');
      await this.#ended(failedStart(error), quiet);
    }
  }

  /** @param look whether a restriction is over: quiet until it is */
  #connect({ library, keys, method }: Prepared, look: boolean): ConnectAttempt {
    const phone = this.#account.identifier;
    let quiet = look;
    this.#block.found(keys.wasBlocked);
    const attempt: ConnectAttempt = new ConnectAttempt({
      library,
      keys,
      link: method === null ? null : { pairingCodeFor: method === 'pairing_code' ? phone : null },
      ...this.#shared,
      emit: (event) => this.#erased.emit(this.#port, event),
      opened: async () => {
        quiet = false;
        const lifted = this.#block.isSet;
        // Emitted together: while the database is away a later end queues behind them.
        const reported = Promise.all([
          lifted ? this.#port.emit({ type: 'state', state: 'unrestricted' }) : null,
          this.#port.emit({ type: 'state', state: 'connected' }),
        ]);
        if (lifted) this.#block.unsetOnce(reported);
        await reported;
      },
      ended: (ending) => {
        if (this.#attempt !== attempt) return;
        this.#attempt = null;
        void this.#ended(ending, quiet);
      },
    });
    return attempt;
  }

  async #ended(ending: LastEnding, quiet: boolean): Promise<void> {
    if (ending.type === 'refused') await this.#port.credentials.clear().catch(() => undefined);
    const isForLong = ending.type === 'logged_out' || ending.type === 'restricted';
    if (isForLong && !(await this.#settled(ending.type === 'restricted'))) return;
    const unchanged = quiet && (ending.type === 'lost' || ending.type === 'restricted');
    if (unchanged || ending.type === 'restricted') this.#checkLater();
    if (!unchanged) await this.#report(endingEventOf(ending));
  }

  /** Stores a block, and what is left of messages. False: something else has begun meanwhile, and says how it goes on. */
  async #settled(isBlocked: boolean): Promise<boolean> {
    const { signal } = this.#turn;
    if (isBlocked) await this.#block.set().catch(() => undefined);
    await handOverLeft(this.#port, this.#erased, this.#account.id, signal);
    return !this.#closed && !signal.aborted;
  }

  /** The network does not say when a restriction of the whole account ends: only a login shows it. */
  #checkLater(): void {
    this.#check = setTimeout(() => {
      void this.#begin((library) => storedLink(library, this.#port.credentials), true);
    }, this.#options.restrictionCheckMs);
    this.#check.unref();
  }

  /** @throws Error when the network was not reached */
  async #leave(signal: AbortSignal): Promise<void> {
    if (this.#attempt?.isLive !== true && !(await this.#connectSilently(signal))) return;
    await this.#attempt?.leave(signal);
  }

  /** Connects only to log out: nothing is emitted. */
  async #connectSilently(signal: AbortSignal): Promise<boolean> {
    this.#cut();
    const library = await libraryFor(this.#options, this.#port.proxy);
    const prepared = await storedLink(library, this.#port.credentials);
    if (prepared === null) return false;
    if (this.#closed) throw new Error('the session is closed');
    return await new Promise<boolean>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
      this.#attempt = new ConnectAttempt({
        ...prepared,
        link: null,
        ...this.#shared,
        emit: () => Promise.reject(new Error('the session is leaving')),
        opened: async () => resolve(true),
        ended: (ending) => {
          if (ending.type === 'logged_out' || ending.type === 'refused') resolve(false);
          else reject(new Error('detail' in ending ? ending.detail : ending.type));
        },
      });
    });
  }

  /** Emits nothing once closed. */
  async #report(event: DriverEvent): Promise<void> {
    if (this.#closed) return;
    await this.#port.emit(event).catch((error: unknown) => this.#warn(error, 'could not report'));
  }

  #warn(error: unknown, message: string): void {
    this.#port.log.warn({ accountId: this.#account.id, error: errorText(error) }, message);
  }
}
