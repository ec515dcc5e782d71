import type { CredentialStore } from '../../core/contracts/driver.ts';
import { People } from './people.ts';
import { Progress } from './progress.ts';
import { Sheet } from './storage/sheet.ts';
import { ReadMarks } from './updates/read-marks.ts';

/** What one link of an account remembers from connection to connection; begun anew with each link. */
export class Memory {
  readonly sheet: Sheet;
  readonly people: People;
  readonly progress: Progress;
  readonly marks: ReadMarks;

  constructor(credentials: CredentialStore) {
    this.sheet = new Sheet(credentials);
    this.people = new People(this.sheet);
    this.progress = new Progress(this.sheet);
    this.marks = new ReadMarks(this.sheet, this.people, () => this.progress.since);
  }
}
