import type { tl } from '@mtcute/core';
import type { OutboundMessage, Port, Sent } from '../../core/contracts/driver.ts';
import { AddressBook } from './address-book.ts';
import type { Memory } from './memory.ts';
import { Sender } from './sending/sender.ts';
import { Standing } from './standing.ts';
import type { Timing } from './timing.ts';
import { Mailbox } from './updates/mailbox.ts';
import { Translator } from './updates/translator.ts';
import type { Verdict } from './verdict.ts';
import type { Wire } from './wire.ts';

/** What a connection works with. */
export interface ConnectionParts {
  readonly wire: Wire;
  readonly port: Port;
  readonly memory: Memory;
  readonly timing: Timing;
  readonly accountId: string;
  /** E.164. */
  readonly phone: string;
  /** The network does not answer any more, or the account is not the one it was. */
  failed(error: unknown): void;
}

/** A logged-in account on one wire: everything that goes on until it is stopped or the wire is cut. */
export class Connection {
  readonly standing: Standing;
  readonly #mailbox: Mailbox;
  readonly #addressBook: AddressBook;
  readonly #sender: Sender;
  readonly #over = new AbortController();

  constructor(parts: ConnectionParts) {
    const { sheet, people, progress, marks } = parts.memory;
    const { signal } = this.#over;
    parts.wire.signal.addEventListener('abort', () => this.stop(), { once: true });
    const shared = { ...parts, signal, sheet, people, progress, marks, log: parts.port.log };
    this.standing = new Standing(shared);
    this.#addressBook = new AddressBook(shared);
    const translator = new Translator({
      ...shared,
      asked: (what) => {
        if (what === 'contacts') void this.#addressBook.refresh();
        else this.standing.askWhetherFrozen().catch(() => undefined);
      },
    });
    this.#mailbox = new Mailbox({ ...shared, translator });
    this.#sender = new Sender({ ...shared, mailbox: this.#mailbox, standing: this.standing });
  }

  /** The gateway knows that the account is connected: begins to take and to watch. */
  start(): void {
    void this.#addressBook.refresh();
    this.#mailbox.start();
    this.standing.watch();
  }

  /** Tells the gateway nothing any more; the wire stays. Idempotent. */
  stop(): void {
    this.#over.abort(new Error('the connection is over'));
  }

  /** Takes what the network pushed. */
  pushed(push: tl.TypeUpdates): void {
    this.#mailbox.push(push);
  }

  /** Takes what a refusal means for the account, whichever call it answered. */
  judged(verdict: Verdict): void {
    if (verdict.kind !== 'stopped') return;
    if (verdict.how === 'banned') void this.standing.stop('banned');
    // The network says for how long, elsewhere.
    else this.standing.askWhetherFrozen().catch(() => this.standing.stop('frozen'));
  }

  /** As `Sender.end`. */
  async end(reason: 'logged_out' | 'replaced'): Promise<void> {
    await this.#sender.end(reason);
  }

  /** As `Session.send`. */
  async send(message: OutboundMessage, signal: AbortSignal): Promise<Sent> {
    return await this.#sender.send(message, signal);
  }
}
