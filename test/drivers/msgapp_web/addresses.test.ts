import t from 'tap';
import {
  contactAtAddress,
  hiddenIdOf,
  isOneContact,
  isOwn,
  ownAddresses,
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

t.test("the account's own addresses", async (t) => {
  const own = ownAddresses({ id: '12025550123:17@s.whatsapp.net', lid: '7712345:17@lid' });
  t.ok(isOwn('12025550123@s.whatsapp.net', own));
  t.ok(isOwn('7712345@lid', own));
  for (const other of ['12025550124@s.whatsapp.net', '7712346@lid', '12025550123@g.us', null]) {
    t.notOk(isOwn(other, own), String(other));
  }
  t.same(ownAddresses(undefined), []);
});
