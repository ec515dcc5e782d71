import type { Test } from 'tap';
import type { Executor } from '../../plugins/storage/executor.ts';
import type { Client } from './client.ts';
import type { LiveNetwork } from './live-network.ts';
import { friend } from './live-network.ts';
import { inPool } from './pool.ts';
import type { Line } from './sending.ts';
import { sendAccepted, until } from './story.ts';

/** Requests that are under way at the same time, each way. */
const clients = 32;

/** In which so many messages each way are to be there, milliseconds: agreeing on keys takes long. */
function bothWaysMs(count: number): number {
  return 60_000 + count * 120;
}

/** Where messages go both ways. */
export interface BothWays {
  readonly network: LiveNetwork;
  readonly lines: readonly Line[];
  readonly rows: Executor;
  readonly api: Client;
}

/** How long it took until all were stored and all were sent, milliseconds. */
export interface BothWaysTook {
  readonly inMs: number;
  readonly outMs: number;
}

/**
 * One message in and one out for each account, all at once; checks that each is stored and shown once.
 * @param text that no message has yet
 */
export async function bothWays(
  t: Test,
  text: string,
  { network, lines, rows, api }: BothWays,
): Promise<BothWaysTook> {
  const [inbound, outbound] = [`in ${text}`, `out ${text}`];
  const begunAt = performance.now();
  const to = { phone: friend };
  const working = Promise.all([
    inPool(lines, clients, ({ phone }) => network.write(phone, inbound)),
    inPool(lines, clients, ({ account }) =>
      sendAccepted(api, { account_id: account, to, text: outbound }),
    ),
  ]);
  const count = async (text: string, status: string): Promise<number> => {
    const [row] = await rows.rows<{ count: number }>(
      `select count(*) as count from messages where text = ? and status in (${status})`,
      [text],
    );
    return row?.count ?? 0;
  };
  let found = [0, 0];
  const doneMs: (number | undefined)[] = [];
  const all = until(
    () => `${text}: ${found} of ${lines.length} received and sent`,
    async () => {
      found = [
        await count(inbound, "'received'"),
        await count(outbound, "'sent', 'delivered', 'read'"),
      ];
      const isDone = found.map((one) => one >= lines.length);
      const sinceMs = Math.round(performance.now() - begunAt);
      for (const [way, done] of isDone.entries()) if (done) doneMs[way] ??= sinceMs;
      return isDone.every((done) => done) ? true : undefined;
    },
    bothWaysMs(lines.length),
  );
  await Promise.all([working, all]);
  const [inMs = Number.NaN, outMs = Number.NaN] = doneMs;
  t.comment(`${text}: one in for each after ${inMs} ms, one out after ${outMs} ms`);
  t.same(found, [lines.length, lines.length], `${text}: each is stored once`);
  const shown = await Promise.all(lines.map(({ phone }) => network.shown(phone)));
  const times = shown.map((texts) => texts.filter((one) => one === outbound).length);
  t.ok(
    times.every((one) => one === 1),
    `${text}: each is shown once`,
  );
  return { inMs, outMs };
}
