import t from 'tap';
import { loadLibrary } from '../../../drivers/msgapp_web/library.ts';
import { oneTimeKey } from '../../../drivers/msgapp_web/one-time-key.ts';

t.test('a one-time key agrees with a key of the library, whoever begins', async (t) => {
  const { Curve } = await loadLibrary();
  for (let round = 0; round < 20; round += 1) {
    const [own, other] = [oneTimeKey(), Curve.generateKeyPair()];
    for (const key of ['public', 'private'] as const) t.equal(own[key].length, 32, key);
    const agreed = Curve.sharedKey(own.private, other.public);
    t.same(agreed, Curve.sharedKey(other.private, own.public));
    const signature = Curve.sign(own.private, Buffer.from('signed'));
    t.ok(Curve.verify(own.public, Buffer.from('signed'), signature), 'and signs');
  }
});
