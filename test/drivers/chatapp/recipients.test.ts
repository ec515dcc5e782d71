import t from 'tap';
import { type ContactAddress, DriverError } from '../../../core/contracts/driver.ts';
import { phoneNumber, until } from '../../harness/story.ts';
import { type Bench, link, type Opened, startBench, textTo } from './bench.ts';
import type { Person } from './network/subscriber.ts';

const patient = () => AbortSignal.timeout(20_000);
const stranger = { phone: phoneNumber(9401), name: 'Fay' };

t.test('a wait for look-ups of numbers is that of the contact alone', async (t) => {
  const bench = await startBench(t);
  const opened = await bench.linked();
  await opened.port.next('contacts', (event) => event.type === 'contacts');
  bench.network.person(stranger.phone, stranger.name);
  bench.control.flood(opened.phone, ['contacts.resolvePhone'], 60_000);
  t.match(await refusalOf(bench, opened, 'msg_wait'), {
    ...{ code: 'flood_wait', certain: true, concerns: 'contact' },
    retryAfterMs: 60_000,
  });
  await opened.session.send(textTo(bench, 'msg_meanwhile'), patient());
  t.match(bench.control.outbox(opened.phone), [{ text: 'text of msg_meanwhile' }]);
});

t.test('nobody is looked up inside a wait for look-ups, whoever it is', async (t) => {
  const bench = await startBench(t);
  const opened = await bench.linked();
  const { phone, port, session } = opened;
  const strangers = Array.from({ length: 5 }, (_, number) =>
    bench.network.person(phoneNumber(9410 + number), `stranger ${number}`),
  );
  for (const [method, addressOf] of [
    ['contacts.resolvePhone', (one: Person) => ({ phone: one.phone, networkId: null })],
    ['messages.getDialogs', (one: Person) => ({ phone: one.phone, networkId: String(one.id) })],
  ] as const) {
    bench.control.refuse(method, 420, 'FLOOD_WAIT_600');
    const refusal = async (person: Person) => {
      const message = { ...textTo(bench, `msg_${person.id}`), to: addressOf(person) };
      return await session.send(message, patient()).catch((error: DriverError) => error);
    };
    const check = (refused: unknown) => {
      t.match(refused, { code: 'flood_wait', certain: true, concerns: 'contact' });
      t.ok(refused instanceof DriverError && (refused.retryAfterMs ?? 0) > 300_000, 'what is left');
    };
    for (const person of strangers) check(await refusal(person));
    bench.control.drop(phone);
    await port.state('lost');
    await session.resume();
    await port.state('connected');
    for (const person of strangers) check(await refusal(person));
    t.equal(bench.control.calls(phone)[method], 1, `${method} once`);
  }
});

t.test('a look-up that the network fails to carry out has sent nothing', async (t) => {
  const bench = await startBench(t);
  const opened = await bench.linked();
  bench.network.person(stranger.phone, stranger.name);
  bench.control.refuse('contacts.resolvePhone', 500, 'WORKER_BUSY_TOO_LONG_RETRY');
  const refused = await refusalOf(bench, opened, 'msg_failing');
  t.match(refused, { code: 'network_failed', certain: true, concerns: 'contact' });
  t.ok((refused?.retryAfterMs ?? 0) > 0, 'and is tried again');
  bench.control.refuse('contacts.resolvePhone', 500, 'WORKER_BUSY_TOO_LONG_RETRY', 0);
  t.equal(await refusalOf(bench, opened, 'msg_failing'), null);
});

t.test('somebody who is known by number alone is one person, and looked up once', async (t) => {
  const bench = await startBench(t);
  const opened = await bench.linked();
  const { phone, port, session } = opened;
  const person = bench.network.person(stranger.phone, stranger.name);
  person.isHidden = true;
  const networkId = String(person.id);
  const isStored = () => port.credentials.values.has(`person:${networkId}`);
  port.onEmit = async (event) => {
    if (event.type === 'identity') t.notOk(isStored(), 'not before it is told');
  };
  t.equal(await refusalOf(bench, opened, 'msg_first'), null);
  t.match(await port.next('identity', (event) => event.type === 'identity'), {
    ...{ phone: stranger.phone, networkId, name: 'Fay' },
  });
  const to = { phone: stranger.phone, networkId };
  await session.send({ ...textTo(bench, 'msg_second'), to }, patient());
  t.equal(bench.control.calls(phone)['contacts.resolvePhone'], 1);
  bench.control.write(phone, { from: stranger.phone, name: stranger.name, text: 'hello' });
  t.match((await port.message()).from, to, 'the answer is of the same person');
  t.equal(bench.control.outbox(phone).length, 2);
});

t.test('a new link can answer everybody who wrote to the one before', async (t) => {
  const bench = await startBench(t);
  const opened = await bench.linked();
  const { phone, port, session } = opened;
  const { control } = bench;
  const writers = Array.from({ length: 12 }, (_, number) => {
    const person = bench.network.person(phoneNumber(9500 + number), `writer ${number}`);
    person.isHidden = true;
    return person;
  });
  const addresses = [];
  for (const { phone: from, name } of writers) {
    control.write(phone, { from, name, text: 'hello' });
    addresses.push((await port.message()).from);
  }
  await link(opened, 'code');
  await session.answer('code', control.code(phone));
  await port.state('connected');
  const nobody = { phone: null, networkId: '1' };
  const send = async (to: ContactAddress, reference: string) =>
    await session.send({ ...textTo(bench, reference), to }, patient());
  control.refuse('messages.getDialogs', 420, 'FLOOD_WAIT_1', 1);
  const first = addresses[0] ?? nobody;
  const waiting = await send(first, 'msg_0').catch((error: DriverError) => error);
  t.match(waiting, { code: 'flood_wait', certain: true, concerns: 'contact' });
  await until('the wait to be over', async () => {
    const sent = await send(first, 'msg_0').catch((error: DriverError) => error);
    return sent instanceof DriverError ? undefined : sent;
  });
  await Promise.all(addresses.map((to, number) => send(to, `msg_${number}`)));
  const reached = control.outbox(phone).map(({ to }) => to);
  t.same(new Set(reached), new Set(writers.map((person) => person.phone)));
  const refused = await send(nobody, 'msg_nobody').catch((error: DriverError) => error);
  t.match(refused, { code: 'contact_unknown', certain: true });
  t.ok((control.calls(phone)['messages.getDialogs'] ?? 0) <= 5, 'the list is read once');
});

/** Why a message to a number that has to be looked up is not sent. */
async function refusalOf(bench: Bench, { session }: Opened, reference: string) {
  const to = { phone: stranger.phone, networkId: null };
  const sending = session.send({ ...textTo(bench, reference), to }, patient());
  return await sending.then(
    () => null,
    (error: DriverError) => error,
  );
}
