import t from 'tap';
import type { DriverError } from '../../../core/contracts/driver.ts';
import { phoneNumber } from '../../harness/story.ts';
import { type Bench, type Opened, startBench, textTo } from './bench.ts';

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

/** Why a message to a number that has to be looked up is not sent. */
async function refusalOf(bench: Bench, { session }: Opened, reference: string) {
  const to = { phone: stranger.phone, networkId: null };
  const sending = session.send({ ...textTo(bench, reference), to }, patient());
  return await sending.then(
    () => null,
    (error: DriverError) => error,
  );
}
