import type { Port } from '../../core/contracts/driver.ts';
import type { Sheet } from './storage/sheet.ts';
import type { Timing } from './timing.ts';
import { told, verdictOf } from './verdict.ts';
import type { Wire } from './wire.ts';

/** The name under which it is stored that the network has stopped the account. */
const name = 'stopped';

type Stopped = 'banned' | 'frozen';

/** What the standing works with. */
export interface StandingParts {
  readonly wire: Wire;
  readonly port: Port;
  readonly sheet: Sheet;
  readonly timing: Timing;
  readonly accountId: string;
  /** The network does not answer any more. */
  silent(): void;
}

/**
 * Whether the network lets the account act: asks again and again whether the session still stands, since a
 * revoked one is silent, and tells the gateway when the account is stopped and when it may go on.
 */
export class Standing {
  readonly #parts: StandingParts;
  #stopped: Stopped | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: StandingParts) {
    this.#parts = parts;
    parts.wire.signal.addEventListener('abort', () => clearTimeout(this.#timer));
  }

  /** The network has stopped the account. */
  get isStopped(): boolean {
    return this.#stopped !== null;
  }

  /** Learns whether the account was stopped when it was last seen. */
  async load(): Promise<void> {
    const before = (await this.#parts.sheet.get([name])).get(name);
    if (before === 'banned' || before === 'frozen') this.#stopped = before;
  }

  /** Asks once. @throws what the network answers, or the want of an answer */
  async ask(): Promise<void> {
    const { wire } = this.#parts;
    try {
      await wire.call({ _: 'users.getUsers', id: [{ _: 'inputUserSelf' }] });
      if (this.#stopped === 'banned') await this.#goOn();
    } catch (error) {
      const verdict = verdictOf(error);
      if (verdict?.kind === 'stopped') await this.stop(verdict.how);
      // Told to wait, the session stands.
      else if (verdict?.kind !== 'wait') throw error;
    }
    if (this.#stopped === 'frozen') await this.askWhetherFrozen();
  }

  /** Begins to ask from time to time. Ends with the wire. */
  watch(): void {
    const { wire, timing } = this.#parts;
    if (wire.signal.aborted) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#watched(), timing.probe);
  }

  /** The account's settings changed, or it was frozen: asks the network for how long. */
  async askWhetherFrozen(): Promise<void> {
    const { wire } = this.#parts;
    const answer = await wire.call({ _: 'help.getAppConfig', hash: 0 });
    if (answer._ !== 'help.appConfig' || answer.config._ !== 'jsonObject') return;
    const numbers = new Map(
      answer.config.value.flatMap(({ key, value }) =>
        value._ === 'jsonNumber' ? [[key, value.value] as const] : [],
      ),
    );
    const until = (numbers.get('freeze_until_date') ?? 0) * 1000;
    if ((numbers.get('freeze_since_date') ?? 0) > 0) await this.stop('frozen', until || null);
    else if (this.#stopped === 'frozen') await this.#goOn();
  }

  /** The network stopped the account. Told once. */
  async stop(how: Stopped, until: number | null = null): Promise<void> {
    const { port, sheet } = this.#parts;
    if (this.#stopped === how) return;
    this.#stopped = how;
    sheet.put(name, how);
    await this.#told(
      port.emit({
        type: 'state',
        state: 'restricted',
        scope: 'all',
        until,
        reason: 'blocked_by_chatapp',
        detail: `The network has ${how} this account.`,
      }),
    );
    await this.#told(sheet.write());
  }

  /** The network refused a message to somebody who never wrote to the account. */
  async newContactsOnly(): Promise<void> {
    const { port, timing } = this.#parts;
    const until = Date.now() + timing.newContacts;
    await this.#told(
      port.emit({
        type: 'state',
        state: 'restricted',
        scope: 'new_contacts',
        until,
        reason: 'blocked_by_chatapp',
        detail: 'The network lets this account write to no new contacts for now.',
      }),
    );
  }

  async #goOn(): Promise<void> {
    const { port, sheet } = this.#parts;
    this.#stopped = null;
    sheet.put(name, null);
    await this.#told(port.emit({ type: 'state', state: 'unrestricted' }));
    await this.#told(sheet.write());
  }

  async #watched(): Promise<void> {
    const { wire, port, accountId, silent } = this.#parts;
    try {
      await this.ask();
      this.watch();
    } catch (error) {
      if (wire.signal.aborted) return;
      port.log.info({ accountId, error: told(error) }, 'the session could not be confirmed');
      if (verdictOf(error)?.kind !== 'ended') silent();
    }
  }

  async #told(telling: Promise<void>): Promise<void> {
    const { port, accountId } = this.#parts;
    await telling.catch((error: unknown) => {
      port.log.warn({ accountId, error: told(error) }, 'a restriction could not be told');
    });
  }
}
