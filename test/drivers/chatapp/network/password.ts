import { createHash, randomBytes } from 'node:crypto';
import { Long } from '@mtcute/core';
import { computePasswordHash, type ICryptoProvider } from '@mtcute/core/utils.js';
import { modulus, pad, power, prime, toNumber } from './prime.ts';
import type { TlObject } from './tl.ts';

const generator = 3;
const salt1 = Buffer.from('first salt');
const salt2 = Buffer.from('second salt');

const algorithm: TlObject = {
  _: 'passwordKdfAlgoSHA256SHA256PBKDF2HMACSHA512iter100000SHA256ModPow',
  salt1,
  salt2,
  g: generator,
  p: prime,
};

/** The verifiers of passwords that were asked for: each takes 100,000 rounds of hashing. */
const verifiers = new Map<string, Promise<bigint>>();

/** One question for the second factor, and whether its answer proves the password. */
export class PasswordQuestion {
  readonly #secret = toNumber(randomBytes(32));
  readonly #verifier: bigint;
  readonly #public: bigint;
  readonly id: Long;

  private constructor(verifier: bigint) {
    this.#verifier = verifier;
    const k = hashNumber(prime, pad(BigInt(generator)));
    this.#public = (k * verifier + power(BigInt(generator), this.#secret)) % modulus;
    this.id = Long.fromNumber(Date.now());
  }

  static async ask(crypto: ICryptoProvider, password: string): Promise<PasswordQuestion> {
    const verifier = verifiers.get(password) ?? verifierOf(crypto, password);
    verifiers.set(password, verifier);
    return new PasswordQuestion(await verifier);
  }

  /** As the client is asked. */
  object(): TlObject {
    return {
      ...noPassword(),
      hasPassword: true,
      currentAlgo: algorithm,
      srpB: pad(this.#public),
      srpId: this.id,
    };
  }

  /** Whether the client knows the password. */
  isProvedBy(proof: TlObject): boolean {
    const [given, shown] = [proof.A, proof.M1];
    if (!(given instanceof Uint8Array) || !(shown instanceof Uint8Array)) return false;
    const u = hashNumber(given, pad(this.#public));
    const base = (toNumber(given) * power(this.#verifier, u)) % modulus;
    const key = hash(pad(power(base, this.#secret)));
    const mixed = hash(prime).map((byte, at) => byte ^ (hash(pad(BigInt(generator)))[at] ?? 0));
    const expected = hash(mixed, hash(salt1), hash(salt2), given, pad(this.#public), key);
    return expected.equals(shown);
  }
}

async function verifierOf(crypto: ICryptoProvider, password: string): Promise<bigint> {
  const hash = await computePasswordHash(crypto, Buffer.from(password), salt1, salt2);
  return power(BigInt(generator), toNumber(hash));
}

/** What an account without a second factor answers. */
export function noPassword(): TlObject {
  return {
    _: 'account.password',
    newAlgo: algorithm,
    newSecureAlgo: { _: 'securePasswordKdfAlgoUnknown' },
    secureRandom: randomBytes(8),
  };
}

function hash(...parts: readonly Uint8Array[]): Buffer {
  return createHash('sha256').update(Buffer.concat(parts)).digest();
}

function hashNumber(...parts: readonly Uint8Array[]): bigint {
  return toNumber(hash(...parts));
}
