import { setImmediate as nextTurn } from 'node:timers/promises';
import type {
  ContactAddress,
  CredentialStore,
  StoredCredentials,
} from '../../core/contracts/driver.ts';
import { NamedWaits } from './named-waits.ts';
import { People } from './people.ts';
import { type Person, personName } from './person.ts';
import { Progress } from './progress.ts';
import { ChatList } from './sending/chat-list.ts';
import { CredentialBuffer } from './storage/credential-buffer.ts';
import { markName, ReadMarks } from './updates/read-marks.ts';

/** People opened in one turn of the event loop, to be found by number: those of ten thousand took 0.2 s. */
const openedAtOnce = 200;

/** State of one link that lasts from connection to connection; each new link starts anew. */
export class Memory {
  readonly buffer: CredentialBuffer;
  readonly people: People;
  readonly chatList: ChatList;
  readonly progress: Progress;
  readonly marks: ReadMarks;
  readonly waits = new NamedWaits();

  constructor(credentials: CredentialStore) {
    this.buffer = new CredentialBuffer(credentials);
    this.people = new People(this.buffer);
    this.chatList = new ChatList(this.buffer, this.people);
    this.progress = new Progress(this.buffer);
    this.marks = new ReadMarks(this.buffer, this.people, this.progress);
  }

  /** Drops everybody from memory whose credentials, by these names, are being deleted. */
  forget(names: readonly string[]): void {
    for (const name of names) {
      const id = Number(name.slice(name.indexOf(':') + 1));
      this.people.forget(id);
      this.marks.forget(id);
      this.buffer.put(name, null);
    }
  }
}

/**
 * Names of the stored credentials about a contact. A contact without a network id is found by number: the account may have
 * met the person in passing.
 */
export async function credentialsOf(
  { phone, networkId }: ContactAddress,
  stored: StoredCredentials,
): Promise<readonly string[]> {
  const ids = networkId === null ? await idsOf(phone, stored) : [networkId];
  const names = ids.flatMap((id) => [personName(id), markName(id)]);
  return Object.keys(await stored.get(names));
}

async function idsOf(phone: string | null, stored: StoredCredentials): Promise<readonly string[]> {
  if (phone === null) return [];
  const names = await stored.names([personName('')]);
  const found: string[] = [];
  for (let start = 0; start < names.length; start += openedAtOnce) {
    // An embedded database answers within the same turn.
    if (start > 0) await nextTurn();
    const texts = await stored.get(names.slice(start, start + openedAtOnce));
    // Only `People` writes under these names.
    const people = Object.values(texts).map((text) => JSON.parse(text) as Person);
    found.push(...people.filter((one) => one.phone === phone).map(({ id }) => String(id)));
  }
  return found;
}
