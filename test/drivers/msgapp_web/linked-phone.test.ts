import t from 'tap';
import { isPhoneOf, wrongPhoneEnding } from '../../../drivers/msgapp_web/linked-phone.ts';

t.test('the linked phone is the right one', async (t) => {
  const asked: string[] = [];
  const network = (answer?: { jid: string; exists: boolean }) => ({
    onWhatsApp: async (...phones: string[]) => {
      asked.push(...phones);
      return answer === undefined ? undefined : [answer];
    },
  });
  const brazil = '+5511987654321';
  const address = '551187654321:3@s.whatsapp.net';
  const ours = { jid: '551187654321@s.whatsapp.net', exists: true };
  t.equal(await isPhoneOf('+12025550123', '12025550123:3@s.whatsapp.net', network()), true);
  t.same(asked, [], 'the network is not asked when the numbers are the same');
  t.equal(await isPhoneOf(brazil, address, network(ours)), true, 'an address with other digits');
  t.same(asked, ['5511987654321@s.whatsapp.net']);
  t.equal(await isPhoneOf(brazil, address, network({ ...ours, exists: false })), false);
  const other = { jid: '12025550123@s.whatsapp.net', exists: true };
  t.equal(await isPhoneOf(brazil, address, network(other)), false);
  t.equal(await isPhoneOf(brazil, undefined, network(ours)), false);
  t.equal(await isPhoneOf(brazil, address, network(other), true), false, 'linked before');
  await t.rejects(isPhoneOf(brazil, address, network({ ...ours, exists: false }), true));
  await t.rejects(isPhoneOf(brazil, address, network()), { message: /did not say/ });
  const { detail } = { detail: '', ...wrongPhoneEnding(address, true) };
  t.match(detail, /ends in 4321/);
  t.notMatch(detail, /8765/, 'no number in full');
  t.match(wrongPhoneEnding(address, false), {
    reason: 'wrong_phone',
    detail: /could not be unlinked/,
  });
});
