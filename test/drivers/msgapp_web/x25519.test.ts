import { createRequire } from 'node:module';
import t from 'tap';
import { guardLibsignal } from '../../../drivers/msgapp_web/libsignal.ts';
import { sharedSecret } from '../../../drivers/msgapp_web/x25519.ts';

/** What the protocol's library computes with. */
interface Curve {
  generateKeyPair(): { readonly pubKey: Buffer; readonly privKey: Buffer };
  calculateAgreement(publicKey: unknown, privateKey: unknown): Buffer;
}

t.test('a shared secret is that of RFC 7748, section 5.2', async (t) => {
  const secret = sharedSecret(
    Buffer.from('e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c', 'hex'),
    Buffer.from('a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4', 'hex'),
  );
  t.equal(
    secret.toString('hex'),
    'c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552',
  );
});

t.test("secrets and refusals are those of the protocol's library", async (t) => {
  const require = createRequire(import.meta.resolve('baileys'));
  const curve: Curve = require('libsignal/src/curve.js');
  const librarys = curve.calculateAgreement;
  guardLibsignal(require);
  t.not(curve.calculateAgreement, librarys, 'the library computes with it');
  for (let n = 0; n < 40; n += 1) {
    const [one, other] = [curve.generateKeyPair(), curve.generateKeyPair()];
    const secret = curve.calculateAgreement(one.pubKey, other.privKey);
    t.same(secret, librarys(one.pubKey, other.privKey));
    t.same(secret, curve.calculateAgreement(other.pubKey, one.privKey));
  }
  const { pubKey, privKey } = curve.generateKeyPair();
  const refused: readonly (readonly [unknown, unknown])[] = [
    [pubKey.subarray(2), privKey],
    [pubKey, privKey.subarray(1)],
    [Buffer.concat([Buffer.from([4]), pubKey.subarray(1)]), privKey],
    [Buffer.concat([pubKey.subarray(0, 1), Buffer.alloc(32)]), privKey],
    [undefined, privKey],
    [pubKey, undefined],
    [new Uint8Array(pubKey), privKey],
  ];
  for (const [publicKey, privateKey] of refused) {
    const told = (agree: Curve['calculateAgreement']): string => {
      try {
        return agree(publicKey, privateKey).toString('hex');
      } catch (error) {
        return String(error);
      }
    };
    t.equal(told(curve.calculateAgreement), told(librarys));
    t.match(told(librarys), /Error/);
  }
  t.same(
    curve.calculateAgreement(pubKey.subarray(1), privKey),
    librarys(pubKey, privKey),
    'a key without its kind is read',
  );
});
