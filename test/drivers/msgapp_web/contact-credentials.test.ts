import t from 'tap';
import { credentialsOf } from '../../../drivers/msgapp_web/contact-credentials.ts';
import { MemoryCredentials } from '../../../testing/contract/driver.ts';

const ada = { phone: '+12025550101', networkId: null };

/** A message that waits for its file, as it is kept: who wrote it, and itself in base64. */
const arriving = (writer: readonly string[], message: string) =>
  JSON.stringify([writer, Buffer.from(message).toString('base64'), 1]);

t.test('what waits is about the contact whose address it names', async (t) => {
  const stored = new MemoryCredentials(
    new Map([
      ['arriving:plain', arriving(['12025550101@s.whatsapp.net'], 'text')],
      ['arriving:device', arriving(['x', '12025550101_1:3@s.whatsapp.net'], 'text')],
      ['arriving:other', arriving(['12025550102:12025550101@s.whatsapp.net'], 'text')],
      ['arriving:longer', arriving(['112025550101@s.whatsapp.net'], 'text')],
    ]),
  );
  const names = await credentialsOf(ada, stored, 2);
  t.same(names.filter((name) => name.startsWith('arriving:')).sort(), [
    'arriving:device',
    'arriving:plain',
  ]);
});

t.test('a text that is all digits in base64 holds up no erasure', async (t) => {
  // Three bytes of UTF-8, which are four digits in base64.
  const letter = Buffer.from('4420', 'base64').toString();
  const text = arriving(['12025550102@s.whatsapp.net'], letter.repeat(40_000));
  const stored = new MemoryCredentials(new Map([['arriving:digits', text]]));
  const begun = process.cpuUsage();
  const names = await credentialsOf(ada, stored, 2);
  const { user, system } = process.cpuUsage(begun);
  t.notOk(names.includes('arriving:digits'));
  t.ok(user + system < 2_000_000, `${user + system} µs`);
});
