import t from 'tap';
import { startBench } from './bench.ts';

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
