import t from 'tap';
import type { DriverError } from '../../../core/contracts/driver.ts';
import { Progress } from '../../../drivers/chatapp/progress.ts';
import { phoneNumber } from '../../harness/story.ts';
import { startBench, textTo } from './bench.ts';

const patient = () => AbortSignal.timeout(20_000);
const stranger = { phone: phoneNumber(9601), name: 'Fay' };

t.test('a session that cannot be read says why in the log, and shows nothing of it', async (t) => {
  const bench = await startBench(t);
  const { log } = bench;
  const opened = await bench.linked();
  opened.session.close();
  const kept = opened.port.credentials.values;
  kept.set('session', 'nightingale');
  const broken = await bench.reopened(opened);
  t.match(await broken.port.state('lost'), { reason: 'driver_failed', detail: /tried again/ });
  const line = log.lines.find((one) => one.startsWith('a session failed for a reason of our own'));
  t.match(line, /"accountId":"acc_\d+","error":"SyntaxError"/);
  log.forbid('nighti');
  t.same(log.offending(), []);

  broken.port.credentials.get = async () => {
    throw new Error('the database is away');
  };
  const { length } = log.lines;
  await broken.session.resume();
  t.match(await broken.port.state('lost'), { reason: 'driver_failed' });
  t.match(log.lines.slice(length).join('\n'), /reason of our own .*the database is away/);
});

t.test('a silent network is no fault of our own', async (t) => {
  const bench = await startBench(t);
  const opened = await bench.linked();
  bench.control.setReachable(false);
  await opened.port.state('lost');
  await opened.session.resume();
  t.match(await opened.port.state('lost'), { reason: 'network_unreachable' });
  t.notMatch(bench.log.lines.join('\n'), /reason of our own/);
});

t.test('a message whose recipient cannot be kept is no silence of the network', async (t) => {
  const bench = await startBench(t);
  const opened = await bench.linked();
  const { control, log, network } = bench;
  const { phone, port, session } = opened;
  await port.next('contacts', (event) => event.type === 'contacts');
  const { id } = network.person(stranger.phone, stranger.name);
  for (const to of [
    { phone: stranger.phone, networkId: null },
    { phone: null, networkId: String(id) },
  ]) {
    const what = to.phone === null ? 'by id' : 'by number';
    const sending = { ...textTo(bench, `msg_${what}`), to };
    const { set } = port.credentials;
    const { length } = log.lines;
    port.credentials.set = async () => {
      throw new Error('the database is away');
    };
    const refused = await session.send(sending, patient()).catch((error: DriverError) => error);
    t.match(refused, { code: 'driver_failed', certain: true, concerns: 'contact' }, what);
    t.ok('retryAfterMs' in refused && (refused.retryAfterMs ?? 0) > 0, 'to be tried again');
    const lines = log.lines.slice(length).join('\n');
    t.match(lines, /not sent for a reason of our own .*the database is away/);
    port.credentials.set = set;
    await session.send(sending, patient());
    // As a new process does, which knows nobody.
    port.credentials.values.delete(`person:${id}`);
    session.forget?.([`person:${id}`]);
  }
  t.equal(control.outbox(phone).length, 2, 'none is lost');
});

t.test('a recipient whose event the gateway refuses is no silence of the network', async (t) => {
  const bench = await startBench(t);
  const { port, session } = await bench.linked();
  bench.network.person(stranger.phone, stranger.name);
  const message = { ...textTo(bench, 'msg_told'), to: { phone: stranger.phone, networkId: null } };
  port.onEmit = async ({ type }) => {
    if (type === 'identity') throw new Error('the event could not be kept');
  };
  const refused = await session.send(message, patient()).catch((error: DriverError) => error);
  t.match(refused, { code: 'driver_failed', certain: true, retryAfterMs: Number });

  bench.control.hold('contacts.resolvePhone');
  const given = new AbortController();
  const held = session.send(message, given.signal).catch((error: DriverError) => error);
  setImmediate(() => given.abort());
  t.match(await held, { code: 'no_answer', certain: true }, 'silence is');
});

t.test('a failure of our own behind the handing over leaves the message uncertain', async (t) => {
  const bench = await startBench(t);
  const { phone, session } = await bench.linked();
  const { control, log } = bench;
  const { sent } = Progress.prototype;
  t.teardown(() => {
    Progress.prototype.sent = sent;
  });
  Progress.prototype.sent = () => {
    throw new TypeError('no such property');
  };
  const message = textTo(bench, 'msg_taken');
  const failed = await session.send(message, patient()).catch((error: DriverError) => error);
  t.match(failed, { code: 'driver_failed', certain: false, retryAfterMs: Number });
  t.match(log.lines.join('\n'), /reason of our own .*no such property/);
  Progress.prototype.sent = sent;
  await session.send({ ...message, attempt: 2 }, patient());
  t.equal(control.outbox(phone).length, 1, 'shown once');
});
