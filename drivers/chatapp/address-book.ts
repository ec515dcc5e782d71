import { setTimeout as pause } from 'node:timers/promises';
import { Long } from '@mtcute/core';
import type { Port } from '../../core/contracts/driver.ts';
import type { AccountCheck } from './account-check.ts';
import type { Client } from './client.ts';
import type { Memory } from './memory.ts';
import { eventsOf } from './person.ts';
import type { Timing } from './timing.ts';
import { Trouble } from './trouble.ts';

/** The method by which contacts are read: its waits outlast a connection. */
const method = 'contacts.getContacts';

/** Dependencies of the address book. */
export interface AddressBookParts {
  readonly client: Client;
  readonly port: Port;
  readonly memory: Memory;
  readonly timing: Timing;
  readonly accountCheck: AccountCheck;
  readonly accountId: string;
  /** Aborted when the connection is over. */
  readonly signal: AbortSignal;
}

/** Keeps the gateway's contacts of the account as the network has them. */
export class AddressBook {
  readonly #parts: AddressBookParts;
  #underWay = false;
  #again = false;

  constructor(parts: AddressBookParts) {
    this.#parts = parts;
  }

  /** Reads all contacts and emits those that are new or changed; retries until it succeeds or the client is cut. */
  async refresh(): Promise<void> {
    this.#again = true;
    if (this.#underWay) return;
    this.#underWay = true;
    const { signal } = this.#parts;
    const trouble = new Trouble(this.#parts, 'contacts could not be taken, again soon');
    while (this.#again && !signal.aborted) {
      this.#again = false;
      try {
        await this.#take();
        trouble.over();
      } catch (error) {
        this.#again = true;
        await trouble.pause(error);
      }
    }
    this.#underWay = false;
  }

  async #take(): Promise<void> {
    const { client, port, memory, signal } = this.#parts;
    const leftMs = memory.waits.leftMs(method);
    if (leftMs > 0) await pause(leftMs, undefined, { signal });
    const asked = client.call({ _: method, hash: Long.ZERO });
    asked.catch((error: unknown) => memory.waits.note(method, error));
    const answer = await asked;
    if (answer._ !== 'contacts.contacts') return;
    const changed = await memory.people.take(answer.users);
    // Stored as met in passing before the gateway has them: whoever it has can be erased, by what is stored.
    const met = changed.flatMap(({ person, before }) =>
      before === undefined ? { person: { ...person, contact: false }, before } : [],
    );
    memory.people.keep(met);
    await memory.buffer.write();
    signal.throwIfAborted();
    for (const event of eventsOf(changed, memory.people.areImported)) await port.emit(event);
    // Stored as contacts after the gateway has them: a stored contact is not emitted again.
    memory.people.keep(changed);
    memory.people.imported();
    await memory.buffer.write();
  }
}
