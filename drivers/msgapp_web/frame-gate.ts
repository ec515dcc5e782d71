import type { CredentialWrites } from './credential-writes.ts';

/** As much of a web socket as frames leave by. */
export interface Wire {
  send(frame: Uint8Array | string, done?: (error?: Error) => void): void;
}

/** What a gate counts: messages encrypted, commits that stored their keys, and frames that waited for one. */
export type GateCount = 'keys_changed' | 'key_commits' | 'frames_held';

/** Dependencies of a gate. */
export interface FrameGateParts {
  readonly writes: Pick<CredentialWrites, 'written' | 'durable' | 'unheld'>;
  /** False: whoever encrypts waits for the keys, and no frame is held. */
  readonly holds: boolean;
  count(what: GateCount): void;
  /** The keys could not be stored, and what waited for them will not leave. Called once. */
  failed(error: unknown): void;
}

/** A frame that waits for keys, and for those before it. */
interface HeldFrame {
  readonly frame: Uint8Array | string;
  readonly keys: Promise<void> | null;
}

/**
 * Ordered gate for the frames of one web socket. A frame leaves only after the key changes made before it are durable:
 * a ratchet used twice makes a message unreadable. The library goes on encrypting meanwhile, so many messages share a
 * commit. One queue serves all frames, as they carry the counter of the connection's own cipher.
 */
export class FrameGate {
  readonly #parts: FrameGateParts;
  #write: Wire['send'] = () => undefined;
  /** The latest write of keys. */
  #keys: Promise<void> | null = null;
  #durable = true;
  #held: HeldFrame[] = [];
  #closed = false;

  constructor(parts: FrameGateParts) {
    this.#parts = parts;
  }

  /** Takes the place of the wire's own way to send. */
  guard(wire: Wire): void {
    this.#write = wire.send.bind(wire);
    wire.send = (frame, done) => this.#send(frame, done);
  }

  /**
   * A message was encrypted: no later frame leaves before its keys are durable. Resolves when the next may be encrypted.
   * @throws Error when it does not hold frames and the keys could not be stored
   */
  async encrypted(): Promise<void> {
    const { writes, holds, count } = this.#parts;
    count('keys_changed');
    if (!holds) return await writes.durable();
    // A frame that waited for a message that is still coming in would keep back what is asked on its account.
    await writes.unheld();
    const keys = writes.written();
    if (keys === this.#keys) return;
    count('key_commits');
    this.#keys = keys;
    this.#durable = false;
    keys.then(
      () => {
        this.#durable ||= this.#keys === keys;
      },
      (error: unknown) => this.#fail(error),
    );
  }

  /** What is held never leaves, and nothing does any more. Synchronous. */
  close(): void {
    this.#closed = true;
    this.#held = [];
  }

  #send(frame: Uint8Array | string, done?: (error?: Error) => void): void {
    if (this.#closed) {
      done?.(new Error('the connection is over'));
      return;
    }
    if (this.#durable && this.#held.length === 0) {
      this.#write(frame, done);
      return;
    }
    this.#parts.count('frames_held');
    this.#held.push({ frame, keys: this.#keys });
    if (this.#held.length === 1) void this.#releaseInOrder();
    done?.();
  }

  async #releaseInOrder(): Promise<void> {
    for (let first = this.#held[0]; first !== undefined; first = this.#held[0]) {
      try {
        await first.keys;
      } catch {
        // `encrypted` has closed the gate.
        return;
      }
      if (this.#closed) return;
      this.#held.shift();
      this.#write(first.frame);
    }
  }

  #fail(error: unknown): void {
    if (this.#closed) return;
    this.close();
    this.#parts.failed(error);
  }
}
