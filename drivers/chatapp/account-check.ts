import { EventEmitter, once } from 'node:events';
import type { tl } from '@mtcute/core';
import type { Port } from '../../core/contracts/driver.ts';
import { longestDelayMs } from '../../core/waiting.ts';
import type { Client } from './client.ts';
import type { NamedWaits } from './named-waits.ts';
import { e164Of } from './person.ts';
import type { Progress } from './progress.ts';
import { loggableError, meaningOf } from './rpc-errors.ts';
import type { CredentialBuffer } from './storage/credential-buffer.ts';
import type { Timing } from './timing.ts';
import { networkPosition } from './updates/difference.ts';

/** The credential that stores whether the network has stopped the account. */
const name = 'stopped';

type Stopped = 'banned' | 'frozen';

/** Methods of the two questions: each has waits of its own. */
const sessionMethod = 'users.getUsers';
const freezeMethod = 'help.getAppConfig';

/** Behind it in the credential until the gateway has it. */
const unreported = ' unreported';

const stops: Readonly<Record<Stopped, string>> = {
  banned: "The network has banned this account: ask its support in the network's own app.",
  frozen: "The network has frozen this account: appeal in the network's own app.",
};

function deletion(at: number): string {
  return `It deletes the account on ${new Date(at).toISOString()}, unless the appeal is granted.`;
}

/** Dependencies of the account check. */
export interface AccountCheckParts {
  readonly client: Client;
  readonly port: Port;
  readonly buffer: CredentialBuffer;
  readonly progress: Progress;
  readonly waits: NamedWaits;
  readonly timing: Timing;
  readonly accountId: string;
  /** E.164. */
  readonly phone: string;
  /** Aborted when the connection is over. */
  readonly signal: AbortSignal;
  /** Called when the network stops answering, or the account is another one. */
  failed(error: unknown): void;
}

/** The session belongs to another number than the account's. */
export class WrongPhone extends Error {
  /** E.164; null: the network does not show it. */
  readonly phone: string | null;
  constructor(phone: string | null) {
    super('the session belongs to another number');
    this.phone = phone;
  }
}

/**
 * Periodic check of the account: a revoked session is silent, so it is asked for. Emits when the network stops the
 * account and when it may go on.
 */
export class AccountCheck {
  readonly #parts: AccountCheckParts;
  #stopped: Stopped | null = null;
  /** Whether the gateway has it, or is just being notified. */
  #isReported = true;
  #timer: NodeJS.Timeout | undefined;
  readonly #ends = new EventEmitter();

  constructor(parts: AccountCheckParts) {
    this.#parts = parts;
    parts.signal.addEventListener('abort', () => clearTimeout(this.#timer), { once: true });
  }

  /** The network has stopped the account. */
  get isStopped(): boolean {
    return this.#stopped !== null;
  }

  /** Resolves when the network lets a stopped account act again, or the connection is over. */
  async allowed(): Promise<void> {
    const { signal } = this.#parts;
    if (this.isStopped) await once(this.#ends, 'allowed', { signal }).catch(() => undefined);
  }

  /** Loads whether the account was stopped. */
  async load(): Promise<void> {
    const before = (await this.#parts.buffer.get([name])).get(name) ?? '';
    const how = before.replace(unreported, '');
    if (how !== 'banned' && how !== 'frozen') return;
    this.#stopped = how;
    this.#isReported = before === how;
  }

  /**
   * Checks at a new connection. Inside a wait for the check another question shows that the network takes the session,
   * and the account is what the last check said.
   * @throws as `ask`
   */
  async confirm(): Promise<void> {
    const { client, waits } = this.#parts;
    if (waits.leftMs(sessionMethod) > 0) {
      await networkPosition(client).catch((error: unknown) => this.#stoppedBy(error));
    }
    await this.ask();
  }

  /** Checks once, but for a question inside a wait. @throws WrongPhone, the refusal of the network, or NoAnswer */
  async ask(): Promise<void> {
    const { waits } = this.#parts;
    if (waits.leftMs(sessionMethod) === 0) await this.#askForSession();
    if (this.#stopped !== 'frozen' || waits.leftMs(freezeMethod) > 0) return;
    await this.askWhetherFrozen().catch((error: unknown) => {
      if (meaningOf(error)?.kind !== 'wait') throw error;
    });
  }

  /** Starts the periodic check, behind the waits that the network has named. Ends with the client. */
  watch(): void {
    this.#watchIn(Math.max(this.#parts.timing.probe, this.#leftMs()));
  }

  /** Asks whether the account is frozen, after its settings changed or a call was refused. @throws inside a wait */
  async askWhetherFrozen(): Promise<void> {
    const { client, waits } = this.#parts;
    if (waits.leftMs(freezeMethod) > 0) throw new Error('the network asks to wait before that');
    const answer = await client
      .call({ _: freezeMethod, hash: 0 })
      .catch((error: unknown) => this.#refused(freezeMethod, error));
    if (answer._ !== 'help.appConfig' || answer.config._ !== 'jsonObject') return;
    const numbers = new Map(
      answer.config.value.flatMap(({ key, value }) =>
        value._ === 'jsonNumber' ? [[key, value.value] as const] : [],
      ),
    );
    const deletedAt = (numbers.get('freeze_until_date') ?? 0) * 1000;
    if ((numbers.get('freeze_since_date') ?? 0) > 0) await this.stop('frozen', deletedAt || null);
    else if (this.#stopped === 'frozen') await this.#goOn();
  }

  /**
   * The network stopped the account. Emitted once.
   * @param deletedAt when the network deletes the account unless an appeal is granted; null: nobody knows
   */
  async stop(how: Stopped, deletedAt: number | null = null): Promise<void> {
    const { port, buffer } = this.#parts;
    if (this.#stopped === how && this.#isReported) return;
    this.#stopped = how;
    this.#isReported = true;
    // The timer may be that of a longer wait.
    if (this.#timer !== undefined) this.watch();
    // Stored first: after a crash in between nobody would find out that the account may go on.
    buffer.put(name, `${how}${unreported}`);
    await this.#succeeded(buffer.write());
    if (this.#stopped !== how) return;
    const isKept = await this.#succeeded(
      port.emit({
        type: 'state',
        state: 'restricted',
        scope: 'all',
        until: null,
        reason: 'blocked_by_chatapp',
        detail: deletedAt === null ? stops[how] : `${stops[how]} ${deletion(deletedAt)}`,
      }),
    );
    if (!isKept || this.#stopped !== how) return;
    buffer.put(name, how);
    await this.#succeeded(buffer.write());
  }

  /**
   * The network refused a message to somebody who never wrote to the account. Not emitted of a stopped account.
   * @returns until when no other is tried: the network does not say how long it goes on
   */
  async newContactsOnly(): Promise<number> {
    const { port, timing } = this.#parts;
    const until = Date.now() + timing.newContacts;
    // A stopped account would be lifted by it, and nobody would report the stop again.
    if (this.isStopped) return until;
    await this.#succeeded(
      port.emit({
        type: 'state',
        state: 'restricted',
        scope: 'new_contacts',
        until,
        reason: 'blocked_by_chatapp',
        detail: `The network lets this account write to no new contacts until ${new Date(until).toISOString()}: write to those who have written to it.`,
      }),
    );
    return until;
  }

  async #goOn(): Promise<void> {
    const { port, buffer } = this.#parts;
    this.#stopped = null;
    buffer.put(name, null);
    await this.#succeeded(port.emit({ type: 'state', state: 'unrestricted' }));
    if (!this.isStopped) this.#ends.emit('allowed');
    await this.#succeeded(buffer.write());
  }

  async #askForSession(): Promise<void> {
    const { client, progress } = this.#parts;
    try {
      const [user] = await client
        .call({ _: sessionMethod, id: [{ _: 'inputUserSelf' }] })
        .catch((error: unknown) => this.#refused(sessionMethod, error));
      this.#refuseAnother(user);
      progress.ownId = user?.id ?? progress.ownId;
      if (this.#stopped === 'banned') await this.#goOn();
    } catch (error) {
      await this.#stoppedBy(error);
    }
  }

  /** Takes a refusal that stops the account. @throws every other error */
  async #stoppedBy(error: unknown): Promise<void> {
    const meaning = meaningOf(error);
    if (meaning?.kind !== 'stopped') throw error;
    await this.stop(meaning.how);
  }

  /** Notes the wait that a question was refused with. @throws the refusal */
  #refused(method: string, error: unknown): never {
    this.#parts.waits.note(method, error);
    throw error;
  }

  /** Until the first of the questions may be asked, milliseconds. */
  #leftMs(): number {
    const { waits } = this.#parts;
    const leftMs = waits.leftMs(sessionMethod);
    return this.#stopped === 'frozen' ? Math.min(leftMs, waits.leftMs(freezeMethod)) : leftMs;
  }

  #watchIn(ms: number): void {
    if (this.#parts.signal.aborted) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#watched(), Math.min(ms, longestDelayMs));
  }

  async #watched(): Promise<void> {
    const { signal, port, accountId, failed } = this.#parts;
    const leftMs = this.#leftMs();
    // Timers may be early.
    if (leftMs > 0) return this.#watchIn(leftMs);
    try {
      await this.ask();
      this.watch();
    } catch (error) {
      if (signal.aborted) return;
      const meaning = meaningOf(error);
      // Rate limit: the session is valid, or it would have been refused as such.
      if (meaning?.kind === 'wait') return this.watch();
      port.log.info(
        { accountId, error: loggableError(error) },
        'the session could not be confirmed',
      );
      if (meaning?.kind !== 'ended') failed(error);
    }
  }

  /** A number can be changed on the network; a session of another number is not the account's. */
  #refuseAnother(user: tl.TypeUser | undefined): void {
    const phone = user?._ === 'user' ? e164Of(user.phone) : null;
    if (phone !== null && phone !== this.#parts.phone) throw new WrongPhone(phone);
  }

  /** Whether it succeeded: a failure is logged. */
  async #succeeded(reporting: Promise<void>): Promise<boolean> {
    const { port, accountId } = this.#parts;
    try {
      await reporting;
      return true;
    } catch (error) {
      port.log.warn(
        { accountId, error: loggableError(error) },
        'a restriction could not be reported',
      );
      return false;
    }
  }
}
