import t from 'tap';
import { carriedOut } from '../../../drivers/simulated/control.ts';
import { phoneNumber } from '../../harness/story.ts';
import { type LinkedPhone, linkPhone } from './linked-phone.ts';
import { runNetwork } from './running-network.ts';

const network = await runNetwork(t);
const { control } = network;
const contact = phoneNumber(9000);

async function send({ session }: LinkedPhone, reference: string, text: string): Promise<void> {
  const to = { phone: contact, networkId: null };
  const signal = AbortSignal.timeout(20_000);
  await session.send({ reference, attempt: 1, to, text, media: null }, signal);
}

const named = (messages: readonly { readonly message_id: string }[]) =>
  messages.map(({ message_id }) => message_id);

t.test('a page has the newest before another, in order', async (t) => {
  const phone = await linkPhone(network.way(), control, place(1));
  const other = await linkPhone(network.way(), control, place(2));
  const page = async (limit: number, before: number | null) =>
    carriedOut(await control.outboxPage(phone.address, { limit, before }));
  t.same(await page(2, null), { messages: [], before: null });
  for (const n of [1, 2, 3, 4, 5]) {
    await send(phone, `msg_${n}`, 'Hello!');
    await send(other, `msg_${n}`, 'Hello!');
  }
  const newest = await page(2, null);
  t.same(named(newest.messages), ['msg_4', 'msg_5']);
  const middle = await page(2, newest.before);
  t.same(named(middle.messages), ['msg_2', 'msg_3']);
  const oldest = await page(2, middle.before);
  t.same(named(oldest.messages), ['msg_1']);
  t.equal(oldest.before, null);
  t.equal((await page(5, null)).before, null, 'a full page that is the last one');
  const unknown = await control.outboxPage(place(3), { limit: 1, before: null });
  t.same(unknown, { refused: 'unknown_phone' });
  phone.session.close();
  other.session.close();
});

t.test('an outbox that no line could carry comes whole, a mebibyte at a time', async (t) => {
  const phone = await linkPhone(network.way(), control, place(4));
  // Written as JSON a control character is six: 72 MiB of a line of 64.
  const expected = Array.from({ length: 48 }, (_, n) => `msg_${n}`);
  for (const reference of expected) await send(phone, reference, '\u0001'.repeat(2 ** 18));
  for (const reference of ['msg_48', 'msg_49']) await send(phone, reference, 'short');
  const outbox = carriedOut(await control.outbox(phone.address));
  t.same(named(outbox), [...expected, 'msg_48', 'msg_49']);
  const newest = carriedOut(
    await control.outboxPage(phone.address, { limit: 1_000, before: null }),
  );
  t.same(named(newest.messages), [...expected.slice(-3), 'msg_48', 'msg_49']);
  await send(phone, 'msg_50', 'x'.repeat(2 ** 21));
  const alone = carriedOut(await control.outboxPage(phone.address, { limit: 1_000, before: null }));
  t.same(named(alone.messages), ['msg_50'], 'what is longer than a page comes alone');
  t.type(alone.before, 'number');
  phone.session.close();
});

function place(n: number) {
  return { network: 'ten_a', channel: 'msgapp_web', phone: phoneNumber(n) };
}
