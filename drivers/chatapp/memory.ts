import type { CredentialStore } from '../../core/contracts/driver.ts';
import { People } from './people.ts';
import { Progress } from './progress.ts';
import { CredentialBuffer } from './storage/credential-buffer.ts';
import { ReadMarks } from './updates/read-marks.ts';

/** State of one link that lasts from connection to connection; each new link starts anew. */
export class Memory {
  readonly buffer: CredentialBuffer;
  readonly people: People;
  readonly progress: Progress;
  readonly marks: ReadMarks;
  /** The account's own id on the network; null until the network has named it. */
  ownId: number | null = null;

  constructor(credentials: CredentialStore) {
    this.buffer = new CredentialBuffer(credentials);
    this.people = new People(this.buffer);
    this.progress = new Progress(this.buffer);
    this.marks = new ReadMarks(this.buffer, this.people, () => this.progress.since);
  }
}
