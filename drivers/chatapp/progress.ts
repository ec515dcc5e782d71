import type { CredentialBuffer } from './storage/credential-buffer.ts';
import type { Position } from './updates/sequence.ts';

/** The name under which it is stored. */
const name = 'progress';
const version = 1;

/** How many random ids of sent messages are kept: far more than can be uncertain at once. */
const mostSent = 50;

/** A message that the network has. */
export interface SentMessage {
  readonly id: number;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
}

interface Stored {
  readonly version: number;
  readonly ownId: number | null;
  readonly since: number;
  readonly position: Position;
  /** Absent: false. */
  readonly isSetBack?: boolean;
  /** Absent: null. */
  readonly anewFrom?: number | null;
  readonly sent: readonly (readonly [string, SentMessage])[];
}

/**
 * The position in the network's updates, and the random ids of the last sends. Both are stored together: a send whose
 * answer is before the position is among them, and any other update comes again.
 */
export class Progress {
  readonly #buffer: CredentialBuffer;
  /** The account's own id on the network; null until the network has named it. */
  ownId: number | null = null;
  #position: Position | null = null;
  /** The position of the last note: updates since then may have to come again after a crash. */
  #noted: Position | null = null;
  #isSetBack = false;
  /** Where the new sequence begins: the lowest position that its pushes have named; null once a position of it is noted. */
  #anewFrom: number | null = null;
  #since = 0;
  #sent = new Map<string, SentMessage>();

  constructor(buffer: CredentialBuffer) {
    this.#buffer = buffer;
  }

  /** Loads the stored progress, unless this process has newer. */
  async load(): Promise<void> {
    if (this.#position !== null) return;
    const text = (await this.#buffer.get([name])).get(name);
    if (text === undefined) return;
    // Only this class writes under this name.
    const stored = JSON.parse(text) as Stored;
    if (stored.version !== version) return;
    this.ownId = stored.ownId;
    this.#position = stored.position;
    this.#noted = stored.position;
    this.#isSetBack = stored.isSetBack === true;
    this.#anewFrom = stored.anewFrom ?? null;
    this.#since = stored.since;
    this.#sent = new Map(stored.sent);
  }

  /** A new link starts without earlier progress. */
  begin(ownId: number, position: Position): void {
    this.ownId = ownId;
    this.#position = position;
    this.#isSetBack = false;
    this.#anewFrom = null;
    this.#since = position.date;
    this.#sent.clear();
  }

  /** Null when there is none: the network is asked for its current position. */
  get position(): Position | null {
    return this.#position;
  }

  /** When the account was linked, seconds since the Unix epoch. */
  get since(): number {
    return this.#since;
  }

  /**
   * The id of a message among all of the account: the network counts a user's from 1, and a number may get a new user.
   * @throws Error before the network has named the user
   */
  networkIdOf(id: number): string {
    if (this.ownId === null) throw new Error('the network has not named the account yet');
    return `${this.ownId}:${id}`;
  }

  /** Whether the network has begun to count its updates anew: the position is of the sequence before. */
  get isSetBack(): boolean {
    return this.#isSetBack;
  }

  /** The network has begun to count anew. Noted at once: the network says it once only. */
  setBack(): void {
    // Only one earlier sequence can be noted: the latest, from its beginning, as receipts of it may be owed. Receipts
    // owed of the sequence before that are given up.
    const begun = this.#isNotedBefore ? this.#anewFrom : null;
    if (begun !== null && this.#position !== null) this.#noted = { ...this.#position, pts: begun };
    this.#isSetBack = true;
    this.#anewFrom = null;
    this.#put();
  }

  /** A push of the new sequence follows this position: once what is left of the one before is stored, it is asked for. */
  pushedAnew(pts: number): void {
    if (this.#anewFrom !== null && this.#anewFrom <= pts) return;
    this.#anewFrom = pts;
    this.#put();
  }

  /**
   * Goes on in the new sequence, at the network's current position or before the first push of that sequence. Until `note`
   * a crash leads back to the sequence before, and from there to this position.
   */
  beginAnew(position: Position): void {
    const pts = Math.min(position.pts, this.#anewFrom ?? position.pts);
    this.#position = { ...position, pts };
    this.#isSetBack = false;
    this.#anewFrom = pts;
    this.#put();
  }

  advance(position: Position): void {
    this.#position = position;
  }

  /** The network has the message with this random id. */
  sent(randomId: string, message: SentMessage): void {
    this.#sent.delete(randomId);
    this.#sent.set(randomId, message);
    const [oldest] = this.#sent.keys();
    if (this.#sent.size > mostSent && oldest !== undefined) this.#sent.delete(oldest);
  }

  /** The message with this random id, if the network is known to have it. */
  find(randomId: string): SentMessage | null {
    return this.#sent.get(randomId) ?? null;
  }

  /** Whether a message is among the last sends. */
  knows(id: number): boolean {
    return [...this.#sent.values()].some((message) => message.id === id);
  }

  /** Notes itself for the next write. */
  note(): void {
    if (this.#position === null) return;
    this.#noted = this.#position;
    if (!this.#isSetBack) this.#anewFrom = null;
    this.#put();
  }

  /** Whether the position is of a new sequence, and the noted one of the sequence before. */
  get #isNotedBefore(): boolean {
    return !this.#isSetBack && this.#anewFrom !== null;
  }

  #put(): void {
    if (this.#noted === null) return;
    const stored: Stored = {
      version,
      ownId: this.ownId,
      since: this.#since,
      position: this.#noted,
      isSetBack: this.#isSetBack || this.#isNotedBefore,
      anewFrom: this.#anewFrom,
      sent: [...this.#sent],
    };
    this.#buffer.put(name, JSON.stringify(stored));
  }
}
