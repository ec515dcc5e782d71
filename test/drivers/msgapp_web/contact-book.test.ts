import t from 'tap';
import { AccountKeys } from '../../../drivers/msgapp_web/account-keys.ts';
import { ContactBook } from '../../../drivers/msgapp_web/contact-book.ts';
import { loadLibrary } from '../../../drivers/msgapp_web/library.ts';
import { libraryLog } from '../../../drivers/msgapp_web/library-log.ts';
import { openedMessages, signalRepository } from '../../../drivers/msgapp_web/signal-repository.ts';
import { Transactions } from '../../../drivers/msgapp_web/transactions.ts';
import { LogLines } from '../../../testing/contract/driver/log-lines.ts';
import { MemoryCredentials } from '../../../testing/contract/driver.ts';

async function contactBook(): Promise<ContactBook> {
  return (await contactBookAndPairs()).book;
}

/** Beside it, takes what the network tells of numbers and hidden ids. */
async function contactBookAndPairs() {
  const library = await loadLibrary();
  const imports = { contacts: true, history: false };
  const credentials = new MemoryCredentials();
  const keys = await AccountKeys.fresh(library, credentials, imports);
  const log = libraryLog(new LogLines(), 'acc_1');
  const auth = { creds: keys.login, keys: new Transactions(keys) };
  const find = async () => [];
  const gate = { encrypted: () => keys.writes.durable() };
  const cipher = { library, keys, opened: openedMessages(), gate };
  const repository = signalRepository(cipher, auth, log, find);
  const pair = (pn: string, lid: string) =>
    repository.lidMapping.storeLIDPNMappings([{ pn: `${pn}@s.whatsapp.net`, lid: `${lid}@lid` }]);
  return { book: new ContactBook(keys, { signalRepository: repository }), pair, keys, credentials };
}

const number = (phone: string) => ({ phone, networkId: null });

t.test('a name and an address that come at once are both kept', async (t) => {
  const book = await contactBook();
  const [typed, real] = ['+5511987654321', '551187654321@s.whatsapp.net'];
  t.equal(await book.destinationOf(number(typed)), null, 'read before, and remembered');
  await Promise.all([
    book.keepName(number(typed), 'Bia (work)'),
    book.keepAddress(typed, real),
    book.keepName(number(typed), 'Bia (home)'),
  ]);
  t.equal(await book.destinationOf(number(typed)), real);
  t.match(await book.person('5511987654321@s.whatsapp.net', null, 'bia'), { name: 'Bia (home)' });
});

t.test('what is being kept of a contact who is erased meanwhile is dropped', async (t) => {
  const { book, keys, credentials } = await contactBookAndPairs();
  const [phone, address] = ['+5511987654321', '551187654321@s.whatsapp.net'];
  const kept = [book.keepName(number(phone), 'Bia'), book.keepAddress(phone, address)];
  book.forget(['5511987654321']);
  await Promise.all(kept);
  await keys.writes.durable();
  t.same([...credentials.values.keys()], []);
  await book.keepName(number(phone), 'Bia (new)');
  t.match(await book.person('5511987654321@s.whatsapp.net', null, null), { name: 'Bia (new)' });
});

t.test('replies from an address stay with the number that was written to', async (t) => {
  const [typed, other, real] = ['+5511987654321', '+55011987654321', '+551187654321'];
  const address = '551187654321@s.whatsapp.net';
  const knownAs = async (book: ContactBook) => (await book.person(address, null, null))?.phone;
  const first = await contactBook();
  await first.keepAddress(typed, address);
  await first.keepAddress(other, address);
  t.equal(await knownAs(first), typed, 'the first of two');
  await first.destinationOf(number(real));
  t.equal(await knownAs(first), real, 'the number itself, once it is written to');
  await first.keepAddress(other, address);
  t.equal(await knownAs(first), real);
  const second = await contactBook();
  await second.keepAddress(real, address);
  await second.keepAddress(typed, address);
  t.equal(await knownAs(second), real, 'the number itself, when it was first');
});

t.test('a number that has changed hands is not of its former owner', async (t) => {
  const { book, pair } = await contactBookAndPairs();
  await pair('12025550101', '771');
  const ada = { phone: '+12025550101', networkId: '771@lid' };
  t.same(await book.person('12025550101@s.whatsapp.net', null, null), { ...ada, name: null });
  await book.noteAddressing('771@lid', ada);
  t.equal(await book.destinationOf(number('+12025550101')), '771@lid');
  await pair('12025550102', '771');
  t.equal(await book.destinationOf(number('+12025550101')), null, 'the network is asked');
  t.match(await book.person('12025550101@s.whatsapp.net', null, null), { networkId: null });
  t.equal(await book.destinationOf(number('+12025550102')), '771@lid');
  await pair('12025550101', '772');
  t.equal(await book.destinationOf(number('+12025550101')), '772@lid');
  t.match(await book.person('771@lid', null, null), { phone: '+12025550102' });
});

t.test('a hidden id whose number has gone to another is without one', async (t) => {
  const { book, pair } = await contactBookAndPairs();
  await pair('12025550101', '771');
  t.match(await book.person('771@lid', null, null), { phone: '+12025550101' });
  await pair('12025550101', '772');
  t.same(await book.person('771@lid', null, 'Ada'), {
    phone: null,
    networkId: '771@lid',
    name: 'Ada',
  });
  t.match(await book.person('772@lid', null, null), { phone: '+12025550101' });
});
