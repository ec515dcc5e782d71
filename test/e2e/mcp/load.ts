import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import type { Executor } from '../../../plugins/storage/executor.ts';
import { postMcp, toolAnswerOf, toolCall } from '../../harness/agent.ts';
import { type RunningGateway, runGateway } from '../../harness/gateway.ts';
import { openRows } from '../../harness/rows.ts';
import { scaled } from '../../harness/scale.ts';
import { pair, phoneNumber, successOf, until } from '../../harness/story.ts';

const phone = phoneNumber(1);

/** How much the heap may have grown, in bytes: what caches and compiled code take, whatever the load. */
const slack = 1_500_000;

/** Opens many calls at the same time, several times over, and weighs the gateway before and after. */
export async function manyCallsAtOnce(t: Test): Promise<void> {
  const calls = scaled(500, 100);
  const gateway = await runGateway(t, {
    databaseUrl: null,
    program: ['--expose-gc', 'test/harness/collecting-main.ts', 'serve'],
    settings: { GATEWAY_LIMITS__WAITS: '10000' },
  });
  const rows = openRows(t, `sqlite:${gateway.dataDir}/gateway.db`);
  await pair(gateway.api, phone);
  const round = () => allAtOnce(t, gateway, rows, calls);
  await round();
  await round();
  const before = await heap(gateway);
  for (let n = 0; n < 3; n += 1) await round();
  const after = await heap(gateway);
  t.ok(after - before < slack, `${calls} at once, heap ${before} before and ${after} after`);
}

/** As many waits as given, all open at once, until one message ends them all. */
async function allAtOnce(
  t: Test,
  { mcpUrl, key, api }: RunningGateway,
  rows: Executor,
  calls: number,
): Promise<void> {
  const path = '/messages/wait?timeout_s=0';
  // From a cursor on no wait can miss the message, however late it begins.
  const { next_cursor: cursor } = await successOf<{ next_cursor: string }>(api.get(path));
  const waits = Array.from({ length: calls }, () =>
    postMcp(mcpUrl, key, { body: toolCall('wait_for_messages', { timeout_s: 50, cursor }) }),
  );
  await until('all to wait', async () => {
    const [open] = await rows.rows<{ n: number }>('select sum(slots) as n from waits');
    return Number(open?.n) === calls ? true : undefined;
  });
  const from = { phone: phoneNumber(101), name: 'Ada' };
  await api.post(`/sandbox/phones/${phone}/inbound`, { from, text: 'to all' });
  const answers = await Promise.all(waits);
  const heard = answers.filter(({ body }) => {
    const answer = toolAnswerOf((body as { result: unknown }).result);
    return answer.status === 200 && JSON.stringify(answer.body).includes('to all');
  });
  t.equal(heard.length, calls, 'each call has its answer');
}

/** The least that the heap holds over some collections, in bytes. */
async function heap({ mcpUrl }: RunningGateway): Promise<number> {
  const sizes: number[] = [];
  for (let n = 0; n < 6; n += 1) {
    await sleep(200);
    const metrics = await (await fetch(new URL('/metrics', mcpUrl))).text();
    sizes.push(Number(/^nodejs_heap_size_used_bytes (\S+)$/m.exec(metrics)?.[1]));
  }
  return Math.min(...sizes);
}
