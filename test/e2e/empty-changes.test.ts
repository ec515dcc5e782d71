import t from 'tap';
import { runGateway } from '../harness/gateway.ts';
import { bodyOf, pair, phoneNumber } from '../harness/story.ts';

t.test('a change of nothing answers what it was about', async (t) => {
  const { api } = await runGateway(t, { databaseUrl: null });
  const accountId = await pair(api, phoneNumber(1));
  const made = await api.post('/contacts', {
    ...{ channel: 'msgapp_web', phone: phoneNumber(101), name: 'Ada' },
  });
  const contact = bodyOf<{ id: string }>(made);
  const [account] = bodyOf<{ accounts: { id: string }[] }>(await api.get('/accounts')).accounts;
  for (const [path, unchanged] of [
    [`/accounts/${accountId}`, account],
    [`/contacts/${contact.id}`, contact],
  ] as const) {
    t.match(await api.patch(path, {}), { status: 200, body: unchanged }, path);
    t.strictSame((await api.get('/contacts')).body, { contacts: [contact], next_cursor: null });
    t.match(await api.patch(path), { status: 400 }, 'no body at all is none');
  }
  for (const path of [
    '/accounts/acc_01jxk5d8a0c1v7m2q3r4s5t6w7',
    '/contacts/con_01jxk5d8a0c1v7m2q3r4s5t6w7',
  ]) {
    t.match(await api.patch(path, {}), { status: 404 }, path);
  }
});
