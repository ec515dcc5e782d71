import t from 'tap';
import { loadLibrary } from '../../../drivers/msgapp_web/library.ts';
import { oneTimeKey } from '../../../drivers/msgapp_web/one-time-key.ts';
import { startProcess } from '../../harness/processes.ts';

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

t.test('no garbage collection hangs the process that makes keys', async (t) => {
  // Where a collection falls depends on what each of these makes beside the keys.
  const intervals = [19, 20, 21, 22, 23, 24, 25, 26, 27, 28];
  const making = intervals.map(async (interval) => {
    const program = 'test/drivers/msgapp_web/one-time-keys-process.ts';
    const made = startProcess(t, [`--gc-interval=${interval}`, program, '2000']);
    t.ok(await made.waitFor(/^2000 keys$/m, 60_000), `one at each ${interval} objects`);
  });
  await Promise.all(making);
});
