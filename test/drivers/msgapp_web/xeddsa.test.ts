import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import t from 'tap';
import { isSignedBy } from '../../../drivers/msgapp_web/xeddsa.ts';
import { SigningPair } from '../../networks/msgapp_web/signing-pair.ts';

/** What the protocol's library verifies with, in JavaScript. */
interface Curve {
  generateKeyPair(seed: Uint8Array): { readonly public: Uint8Array; readonly private: Uint8Array };
  sign(key: Uint8Array, message: Uint8Array): Uint8Array;
  verify(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
}

t.test("signatures are judged as the protocol's library judges them", async (t) => {
  const { resolve } = createRequire(import.meta.url);
  const curve: Curve = createRequire(resolve('libsignal'))('curve25519-js');
  const flipped = (bytes: Uint8Array, bit: number): Buffer => {
    const copy = Buffer.from(bytes);
    copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    return copy;
  };
  for (let n = 0; n < 40; n += 1) {
    const pair = curve.generateKeyPair(randomBytes(32));
    const [key, message] = [Buffer.from(pair.public), randomBytes(n * 7 + 1)];
    const signature = Buffer.from(curve.sign(pair.private, message));
    t.equal(isSignedBy(key, message, signature), true);
    t.equal(isSignedBy(key, flipped(message, n % 8), signature), false, 'another message');
    const signing = new SigningPair();
    t.ok(curve.verify(signing.keys.public, message, signing.sign(message)), 'signed natively');
    const bit = (n * 13) % 512;
    const changed = flipped(signature, bit);
    t.equal(isSignedBy(key, message, changed), curve.verify(key, message, changed), `bit ${bit}`);
    const other = flipped(key, (n * 7) % 256);
    t.equal(isSignedBy(other, message, signature), curve.verify(other, message, signature));
  }
  const [key, signature] = [Buffer.alloc(32), Buffer.alloc(64)];
  t.equal(
    isSignedBy(key, Buffer.alloc(1), signature),
    curve.verify(key, Buffer.alloc(1), signature),
  );
});
