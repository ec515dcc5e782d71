import type { LinkStep } from '../../core/contracts/driver.ts';
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
   * @throws Error when the network gives no pairing code
   */
  async offered(data: string): Promise<void> {
    this.#offered += 1;
    const first = this.#offered === 1;
    const { pairingCodeFor } = this.#kind;
    if (pairingCodeFor === null) {
      const expiresAt = Date.now() + (first ? firstMs : laterMs);
      return await this.#emit({ type: 'show_qr', data, token: null, expiresAt });
    }
    if (!first || this.#socket === null) return;
    const code = await this.#socket.requestPairingCode(pairingCodeFor.replace(/^\+/, ''));
    await this.#emit({ type: 'show_code', code, expiresAt: Date.now() + pairingCodeMs });
  }
}
