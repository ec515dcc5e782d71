import type { tl } from '@mtcute/core';
import type { ContactAddress, OutboundMessage, Port, Sent } from '../../core/contracts/driver.ts';
import { AccountCheck } from './account-check.ts';
import { AddressBook } from './address-book.ts';
import type { Client } from './client.ts';
import type { Memory } from './memory.ts';
import type { RefusalMeaning } from './rpc-errors.ts';
import { Sender } from './sending/sender.ts';
import type { Timing } from './timing.ts';
import { Translator } from './updates/translator.ts';
import { UpdateFollower } from './updates/update-follower.ts';

/** Dependencies of a connection. */
export interface ChatappConnectionParts {
  readonly client: Client;
  readonly port: Port;
  readonly memory: Memory;
  readonly timing: Timing;
  readonly accountId: string;
  /** E.164. */
  readonly phone: string;
  /** Called when the network stops answering, or the account is another one. */
  failed(error: unknown): void;
}

/** A logged-in account on one client, until it is stopped or the client is cut. */
export class ChatappConnection {
  readonly accountCheck: AccountCheck;
  readonly #updates: UpdateFollower;
  readonly #addressBook: AddressBook;
  readonly #sender: Sender;
  readonly #over = new AbortController();

  constructor(parts: ChatappConnectionParts) {
    const { buffer, people, chatList, progress, marks, waits } = parts.memory;
    const { signal } = this.#over;
    parts.client.signal.addEventListener('abort', () => this.stop(), { once: true });
    const kept = { buffer, people, chatList, progress, marks, waits };
    const shared = { ...parts, ...kept, signal, log: parts.port.log };
    this.accountCheck = new AccountCheck(shared);
    const { accountCheck } = this;
    this.#addressBook = new AddressBook({ ...shared, accountCheck });
    const translator = new Translator({
      ...shared,
      asked: (what) => {
        if (what === 'contacts') void this.#addressBook.refresh();
        else this.accountCheck.askWhetherFrozen().catch(() => undefined);
      },
    });
    this.#updates = new UpdateFollower({ ...shared, accountCheck, translator });
    this.#sender = new Sender({
      ...shared,
      updates: this.#updates,
      accountCheck,
    });
  }

  /** Starts updates and checks, once the gateway knows that the account is connected. */
  start(): void {
    void this.#addressBook.refresh();
    this.#updates.start();
    this.accountCheck.watch();
  }

  /** Emits nothing any more; the client stays. Idempotent. */
  stop(): void {
    this.#over.abort(new Error('the connection is over'));
  }

  /** Takes what the network pushed. */
  pushed(push: tl.TypeUpdates): void {
    this.#updates.push(push);
  }

  /** Takes a refusal that concerns the account, of any call. */
  judged(meaning: RefusalMeaning): void {
    if (meaning.kind !== 'stopped') return;
    if (meaning.how === 'banned') void this.accountCheck.stop('banned');
    // The check asks the network for how long.
    else this.accountCheck.askWhetherFrozen().catch(() => this.accountCheck.stop('frozen'));
  }

  /** As `Sender.end`. */
  async end(reason: 'logged_out' | 'replaced'): Promise<void> {
    await this.#sender.end(reason);
  }

  /** As `Session.send`. */
  async send(message: OutboundMessage, signal: AbortSignal): Promise<Sent> {
    return await this.#sender.send(message, signal);
  }

  /** As `Session.typing`. */
  async typing(to: ContactAddress): Promise<void> {
    await this.#sender.typing(to);
  }
}
