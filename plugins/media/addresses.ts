import { createHmac, timingSafeEqual } from 'node:crypto';
import { isMediaKey } from '../../core/media-reference.ts';

/** Dependencies of media addresses. */
export interface AddressParts {
  /** Signing keys: the current one, then previous ones whose signatures are still valid. */
  readonly keys: readonly Buffer[];
  /** Lifetime of an address, milliseconds. */
  readonly lifetimeMs: number;
  /** Base URL at which clients reach the gateway. */
  publicUrl(): string;
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

/** The validity of a presented address. */
export type AddressValidity = 'good' | 'expired' | 'wrong';

/** Half of SHA-256: nobody can try more than a few signatures a second. */
const signatureBytes = 16;

/** Signed addresses of stored media; any process with the gateway's secret can make and check them. */
export class MediaAddresses {
  readonly #parts: AddressParts;
  readonly #current: Buffer;

  constructor(parts: AddressParts) {
    const [current] = parts.keys;
    if (current === undefined) throw new Error('addresses of media need a key');
    this.#parts = parts;
    this.#current = current;
  }

  /** Makes an address of a file, valid from now on. */
  mint(key: string): string {
    const { publicUrl, now, lifetimeMs } = this.#parts;
    const expires = String(Math.ceil((now() + lifetimeMs) / 1000));
    const signature = sign(this.#current, key, expires).toString('base64url');
    return `${publicUrl()}/v1/media/${key}?expires=${expires}&signature=${signature}`;
  }

  /** Checks key, expiry and signature of an address; `expired` only when it was minted here. */
  check(key: string, expires: unknown, signature: unknown): AddressValidity {
    if (!isMediaKey(key) || typeof expires !== 'string' || typeof signature !== 'string') {
      return 'wrong';
    }
    const given = Buffer.from(signature, 'base64url');
    // Node skips characters that are no base64url, so two texts could be the same signature.
    if (given.length !== signatureBytes || given.toString('base64url') !== signature) {
      return 'wrong';
    }
    const { keys, now } = this.#parts;
    if (!keys.some((one) => timingSafeEqual(given, sign(one, key, expires)))) return 'wrong';
    return Number(expires) * 1000 > now() ? 'good' : 'expired';
  }
}

function sign(secret: Buffer, key: string, expires: string): Buffer {
  const content = JSON.stringify([key, expires]);
  return createHmac('sha256', secret).update(content).digest().subarray(0, signatureBytes);
}
