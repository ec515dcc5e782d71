import { readFileSync } from 'node:fs';
import t from 'tap';
import { usualTiming } from '../../../drivers/chatapp/timing.ts';
import { until } from '../../harness/story.ts';
import { friend, startBench, textTo } from './bench.ts';
import { quickTiming } from './running-network.ts';

const page = new URL('../../../docs/chatapp.md', import.meta.url);
const hourMs = 3_600_000;
/** Of each kind in the hour: sent, received, read. */
const messages = 30;

t.test('an hour of ordinary use asks the network no more than the page says', async (t) => {
  const bench = await startBench(t, { ...quickTiming, probe: 10 });
  const opened = await bench.linked();
  const { control } = bench;
  const { phone, port, session } = opened;
  await port.next('contacts', (event) => event.type === 'contacts');
  control.drop(phone);
  await port.state('lost');
  const before = control.calls(phone);

  // The hour begins with a connection, and ends with its last probe.
  await session.resume();
  await port.state('connected');
  for (let number = 0; number < messages; number += 1) {
    const sent = await session.send(textTo(bench, `msg_${number}`), AbortSignal.timeout(10_000));
    control.write(phone, { from: friend.phone, text: `answer ${number}` });
    await port.message();
    control.read(phone, sent.networkId);
    await port.receipt();
  }
  const probes = hourMs / usualTiming.probe;
  const asked = () => {
    const now = Object.entries(control.calls(phone));
    const counts = now.map(([method, count]) => [method, count - (before[method] ?? 0)] as const);
    return Object.fromEntries(counts.filter(([, count]) => count > 0));
  };
  await until('the probes', async () =>
    (asked()['users.getUsers'] ?? 0) > probes ? true : undefined,
  );
  session.close();
  const counts = { ...asked(), 'users.getUsers': 1 + probes };
  t.same(counts, onThePage());
});

function onThePage(): Readonly<Record<string, number>> {
  const rows = readFileSync(page, 'utf8').matchAll(/^\| `(\w+\.\w+)` \| (\d+) \|/gm);
  return Object.fromEntries([...rows].map(([, method, count]) => [method, Number(count)]));
}
