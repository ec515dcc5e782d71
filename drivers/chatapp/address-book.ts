import { setTimeout as pause } from 'node:timers/promises';
import { Long } from '@mtcute/core';
import type { Port } from '../../core/contracts/driver.ts';
import type { Memory } from './memory.ts';
import { contactOf } from './people.ts';
import type { Timing } from './timing.ts';
import { told, verdictOf } from './verdict.ts';
import type { Wire } from './wire.ts';

/** What the address book works with. */
export interface AddressBookParts {
  readonly wire: Wire;
  readonly port: Port;
  readonly memory: Memory;
  readonly timing: Timing;
  readonly accountId: string;
}

/** Keeps the gateway's contacts of the account as the network has them. */
export class AddressBook {
  readonly #parts: AddressBookParts;
  #underWay = false;
  #again = false;

  constructor(parts: AddressBookParts) {
    this.#parts = parts;
  }

  /** Asks for all contacts and tells those that are new or changed; tries until it worked or the wire is cut. */
  async refresh(): Promise<void> {
    this.#again = true;
    if (this.#underWay) return;
    this.#underWay = true;
    const { wire, port, timing, accountId } = this.#parts;
    while (this.#again && !wire.signal.aborted) {
      this.#again = false;
      try {
        await this.#take();
      } catch (error) {
        if (wire.signal.aborted) break;
        port.log.warn({ accountId, error: told(error) }, 'contacts could not be taken, again soon');
        this.#again = true;
        const verdict = verdictOf(error);
        const ms = verdict?.kind === 'wait' ? verdict.ms : timing.retry;
        await pause(ms, undefined, { signal: wire.signal }).catch(() => undefined);
      }
    }
    this.#underWay = false;
  }

  async #take(): Promise<void> {
    const { wire, port, memory } = this.#parts;
    const answer = await wire.call({ _: 'contacts.getContacts', hash: Long.ZERO });
    if (answer._ !== 'contacts.contacts') return;
    const changed = await memory.people.take(answer.users);
    const contacts = changed.filter(({ contact }) => contact).map(contactOf);
    wire.signal.throwIfAborted();
    if (contacts.length > 0) await port.emit({ type: 'contacts', contacts });
    // After the gateway has them: what is kept here is not told again.
    memory.people.keep(changed);
    await memory.sheet.write();
  }
}
