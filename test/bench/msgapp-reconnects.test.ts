import t from 'tap';
import { startProcess } from '../harness/processes.ts';
import { scaled } from '../harness/scale.ts';
import { startNetwork } from '../networks/msgapp_web/process.ts';

interface Costs {
  /** Processor time of a send, in microseconds. */
  readonly send: number;
  /** An awaited promise, in nanoseconds. */
  readonly promise: number;
  /** Bytes in use. */
  readonly memory: number;
}

const rounds = scaled(500, 10);
const { url, control, rootPublicKey } = (await startNetwork(t)).places;

t.test('ten accounts that reconnect again and again cost what they did at first', async (t) => {
  const program = 'test/networks/msgapp_web/reconnects.ts';
  const values = [String(rounds), url, control, rootPublicKey];
  const started = startProcess(t, ['--expose-gc', program, ...values]);
  const [line = ''] = await started.waitFor(/^\{"early.*\}$/m, 1_500_000);
  const { early, late }: { early: Costs; late: Costs } = JSON.parse(line);
  for (const cost of ['send', 'promise', 'memory'] as const) {
    t.comment(`${cost}: ${Math.round(early[cost])} early, ${Math.round(late[cost])} late`);
    t.ok(early[cost] > 0, 'something was measured');
    t.ok(late[cost] <= early[cost] * 1.2, `${cost} costs at most 1.2 times as much`);
  }
});
