import type { LiveSession } from '../../accounts/contract.ts';
import type { Conversations, Head } from './conversations.ts';
import type { Pace } from './pace.ts';

/** Files that are awaited in one go, at most: the process goes on in between. */
const awaitedAtOnce = 200;

/** Dependencies of a session's starts. */
export interface StartsParts {
  readonly conversations: Conversations;
  readonly pace: Pace;
  /** Whether anything may be handed over now. */
  maySend(): boolean;
  /** Called when media that a message waited for is there, or could not be fetched. */
  fetched(): void;
}

/** The starts of one session's messages: which may be handed over now, by turn, pace and media. */
export class Starts {
  readonly #session: Pick<LiveSession, 'mediaAhead' | 'signal'>;
  readonly #parts: StartsParts;
  #leftSome = false;

  constructor(session: Pick<LiveSession, 'mediaAhead' | 'signal'>, parts: StartsParts) {
    this.#session = session;
    this.#parts = parts;
  }

  /** The last `take` may have left messages that may start. */
  get leftSome(): boolean {
    return this.#leftSome;
  }

  /**
   * Takes what may be handed over now. A conversation whose media is not there pauses until it is; many that do so are
   * left to the next call.
   */
  take(): readonly Head[] {
    const { conversations, pace } = this.#parts;
    const { mediaAhead } = this.#session;
    const heads: Head[] = [];
    let awaited = 0;
    while (awaited < awaitedAtOnce && this.#parts.maySend()) {
      const started = conversations.start(pace.atOnce);
      if (started.length === 0) break;
      for (const head of started) {
        if (head.mediaUrl !== null && !mediaAhead.isSettled(head.id)) {
          this.#awaitMedia(head, head.mediaUrl);
          awaited += 1;
          continue;
        }
        heads.push(head);
        pace.take(true);
      }
    }
    this.#leftSome = awaited >= awaitedAtOnce;
    return heads;
  }

  /** The message that was taken ended without being handed over. */
  drop(contactId: string, id: string): void {
    this.#session.mediaAhead.forget(id);
    this.#parts.conversations.finish(contactId);
  }

  /** Gives back a message that was taken as the first of its conversation, but belongs to another by now. */
  moveTo(from: string, into: string): void {
    const { conversations } = this.#parts;
    conversations.pause(from);
    conversations.merge(from, into);
  }

  #awaitMedia({ id, contactId }: Head, url: string): void {
    const { conversations, fetched } = this.#parts;
    conversations.pause(contactId);
    void this.#session.mediaAhead.settled(id, { url }).then(() => {
      if (this.#session.signal.aborted) return;
      conversations.resume(contactId);
      fetched();
    });
  }
}
