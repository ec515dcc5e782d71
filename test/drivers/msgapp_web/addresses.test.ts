import t from 'tap';
import {
  contactAtAddress,
  hiddenIdOf,
  isOneContact,
  phoneOfAddress,
} from '../../../drivers/msgapp_web/addresses.ts';

t.test('addresses', async (t) => {
  for (const [address, phone, hidden] of [
    ['12025550123@s.whatsapp.net', '+12025550123', null],
    ['12025550123:17@s.whatsapp.net', '+12025550123', null],
    ['12025550123_1.0@s.whatsapp.net', '+12025550123', null],
    ['12025550123@c.us', '+12025550123', null],
    ['7712345:3@lid', null, '7712345@lid'],
    ['123-456@g.us', null, null],
    ['status@broadcast', null, null],
    ['120363@newsletter', null, null],
    ['', null, null],
    [undefined, null, null],
  ] as const) {
    t.equal(phoneOfAddress(address), phone, `phone of ${address}`);
    t.equal(hiddenIdOf(address), hidden, `opaque id of ${address}`);
    t.equal(isOneContact(address), phone !== null || hidden !== null);
  }
  t.same(contactAtAddress('7712345@lid', '12025550123@s.whatsapp.net'), {
    phone: '+12025550123',
    networkId: '7712345@lid',
  });
  t.equal(contactAtAddress('123-456@g.us', undefined), null);
});
