import type { tl } from '@mtcute/core';
import t from 'tap';
import { People } from '../../../drivers/chatapp/people.ts';
import { eventsOf, type PersonChange } from '../../../drivers/chatapp/person.ts';
import { CredentialBuffer } from '../../../drivers/chatapp/storage/credential-buffer.ts';
import { MemoryCredentials } from '../../../testing/contract/driver/port.ts';

t.test('a name that comes back while another is being stored is reported again', async (t) => {
  const people = new People(new CredentialBuffer(new MemoryCredentials()));
  const names = (changes: readonly PersonChange[]) =>
    eventsOf(changes, true).flatMap((event) => (event.type === 'identity' ? [event.name] : []));
  const take = (name: string, hash: number) => people.take([user(name, hash)]);

  people.keep(await take('Ada', 1));
  const between = await take('Bea', 1);
  t.same(names(between), ['Bea']);
  const back = await take('Ada', 2);
  t.same(names(back), ['Ada'], 'with another access hash');
  t.same(names(await take('Ada', 2)), ['Ada'], 'when that was refused');
  people.keep(between);
  people.keep(await take('Ada', 2));
  t.same(await take('Ada', 2), [], 'once it is stored no more');

  const other = new People(new CredentialBuffer(new MemoryCredentials()));
  t.same(names(await other.take([user('Ada', 1)])), [], 'somebody new has not changed');
  t.same(names(await other.take([user('Bea', 1)])), ['Bea'], 'but while being stored');
});

/** A user of the network, as far as people are made of it. */
function user(firstName: string, hash: number): tl.TypeUser {
  return { _: 'user', id: 7, firstName, accessHash: hash } as unknown as tl.TypeUser;
}
