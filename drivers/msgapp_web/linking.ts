import type { BinaryNode } from 'baileys';
import type { LinkStep } from '../../core/contracts/driver.ts';
import { codeRefused, type LastEnding, unanswered } from './close-codes.ts';
import type { LibrarySocket } from './library.ts';

/** How an account is linked. */
export interface LinkKind {
  /** The number that a pairing code is asked for; null: by QR code. */
  readonly pairingCodeFor: string | null;
}

/** How long the first QR code can be scanned, and each after it, in milliseconds. The library keeps to the same. */
const firstMs = 60_000;
const laterMs = 20_000;
/** How long a pairing code can be typed: the connection ends when the QR codes behind it have run out. */
const pairingCodeMs = firstMs + 5 * laterMs;
/** In which the network answers whether it takes a pairing code, in milliseconds. */
const answerMs = 20_000;

/** Turns what the network offers while linking into steps for the user. */
export class Linking {
  readonly #kind: LinkKind;
  readonly #emit: (step: LinkStep) => Promise<void>;
  #socket: LibrarySocket | null = null;
  #offered = 0;

  constructor(kind: LinkKind, emit: (step: LinkStep) => Promise<void>) {
    this.#kind = kind;
    this.#emit = emit;
  }

  use(socket: LibrarySocket): void {
    this.#socket = socket;
  }

  /**
   * The network offers a QR code; a pairing code can be asked for from the first one on.
   * @returns how the link ends where the network takes no pairing code; null: a code is shown
   */
  async offered(data: string): Promise<LastEnding | null> {
    this.#offered += 1;
    const first = this.#offered === 1;
    const { pairingCodeFor } = this.#kind;
    const socket = this.#socket;
    if (pairingCodeFor === null) {
      const expiresAt = Date.now() + (first ? firstMs : laterMs);
      await this.#emit({ type: 'show_qr', data, token: null, expiresAt });
      return null;
    }
    if (!first || socket === null) return null;
    const expiresAt = Date.now() + pairingCodeMs;
    const answered = answerToNext(socket);
    const code = await socket.requestPairingCode(pairingCodeFor.replace(/^\+/, ''));
    const answer = await answered;
    // A connection that has ended meanwhile has an ending of its own.
    if (answer === 'closed' || socket !== this.#socket) return null;
    if (answer === undefined) return unanswered;
    if (answer.attrs.type === 'error') return codeRefused(errorIn(answer));
    await this.#emit({ type: 'show_code', code, expiresAt });
    return null;
  }
}

/** The answer to the library's next question, whose id it does not say; undefined: none came in time. */
async function answerToNext(socket: LibrarySocket): Promise<BinaryNode | undefined | 'closed'> {
  const [prefix, count] = socket.generateMessageTag().split('-');
  const id = `${prefix}-${Number(count) + 1}`;
  return await socket.waitForMessage<BinaryNode>(id, answerMs).catch(() => 'closed');
}

/** The number of the error in an answer; 0 where there is none. */
function errorIn({ content }: BinaryNode): number {
  const nodes = Array.isArray(content) ? content : [];
  return Number(nodes.find(({ tag }) => tag === 'error')?.attrs.code ?? 0);
}
