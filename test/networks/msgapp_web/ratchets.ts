import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import type { BinaryNode } from 'baileys';
import { childrenOf } from './stanzas.ts';

/** What the keys of messages have been used for. */
export interface RatchetUse {
  /** How many different keys. */
  readonly used: number;
  /** How many of them for two different messages: each is one too many. */
  readonly reused: number;
}

/** A message of the cipher, as its own library reads it. */
interface Whisper {
  readonly ephemeralKey: Uint8Array;
  readonly counter: number;
}
interface Reader<Message> {
  decode(bytes: Uint8Array): Message;
}

const fromLibrary = createRequire(createRequire(import.meta.url).resolve('baileys'));
const { WhisperMessage, PreKeyWhisperMessage } = fromLibrary('libsignal/src/protobufs.js') as {
  readonly WhisperMessage: Reader<Whisper>;
  readonly PreKeyWhisperMessage: Reader<{ readonly message: Uint8Array }>;
};

/** The bytes behind the version, and the length of the code at the end of a message. */
const versionBytes = 1;
const codeBytes = 8;

/** Watches which message each key was used for: a chain of a session, and the counter within. */
export class Ratchets {
  readonly #messages = new Map<string, string>();
  readonly #reused = new Set<string>();

  /** Looks at everything that is encrypted in a stanza. */
  see(node: BinaryNode): void {
    if (node.tag === 'enc' && node.content instanceof Uint8Array) {
      this.#used(node.attrs.type === 'pkmsg' ? inner(node.content) : node.content);
    }
    for (const child of childrenOf(node)) this.see(child);
  }

  use(): RatchetUse {
    return { used: this.#messages.size, reused: this.#reused.size };
  }

  #used(bytes: Uint8Array): void {
    const { ephemeralKey, counter } = WhisperMessage.decode(
      bytes.subarray(versionBytes, bytes.length - codeBytes),
    );
    const key = `${Buffer.from(ephemeralKey).toString('base64')}:${counter}`;
    const message = createHash('sha256').update(bytes).digest('base64');
    const before = this.#messages.get(key);
    if (before !== undefined && before !== message) this.#reused.add(key);
    this.#messages.set(key, message);
  }
}

function inner(bytes: Uint8Array): Uint8Array {
  return PreKeyWhisperMessage.decode(bytes.subarray(versionBytes)).message;
}
