import type { CredentialStore } from '../../core/contracts/driver.ts';
import { People, personName } from './people.ts';
import { Progress } from './progress.ts';
import { ChatList } from './sending/chat-list.ts';
import { CredentialBuffer } from './storage/credential-buffer.ts';
import { markName, ReadMarks } from './updates/read-marks.ts';

/** State of one link that lasts from connection to connection; each new link starts anew. */
export class Memory {
  readonly buffer: CredentialBuffer;
  readonly people: People;
  readonly chatList: ChatList;
  readonly progress: Progress;
  readonly marks: ReadMarks;

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

/** The names of the credentials that are about somebody with this id of the network. Pure. */
export function namesAbout(networkId: string): readonly string[] {
  return [personName(networkId), markName(networkId)];
}
