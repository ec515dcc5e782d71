import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, ClientAnswer } from './client.ts';
import { scale } from './scale.ts';

/** Makes `count` requests at once, spread evenly over the clients; answers in the order of the requests. */
export function crowd(
  clients: readonly Client[],
  count: number,
  request: (api: Client, index: number) => Promise<ClientAnswer>,
): Promise<readonly ClientAnswer[]> {
  return Promise.all(
    Array.from({ length: count }, (_, index) => {
      const api = clients[index % clients.length];
      if (api === undefined) throw new Error('a crowd needs a client');
      return request(api, index);
    }),
  );
}

/** How many answers there are of each kind: `202`, or a refusal as `429 loop_guard`. */
export function tally(answers: readonly ClientAnswer[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const code = (body as { error_code?: string }).error_code;
    const kind = code === undefined ? String(status) : `${status} ${code}`;
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

/** What a refused request was told, and when it was made; milliseconds. */
interface Told {
  readonly begunAt: number;
  readonly answeredAt: number;
  readonly retryAfterMs: number;
}

const dueAt = ({ answeredAt, retryAfterMs }: Told): number => answeredAt + retryAfterMs;

/** The pauses of `untilItPasses`, milliseconds: `near` in the last two seconds before the told time, `far` earlier. */
const pauseMs = { near: scale < 1 ? 40 : 5, far: 300 };

/** What `untilItPasses` found. */
export interface Passage {
  /** How often the request was refused before it passed. */
  readonly refusals: number;
  /** Sentences about each `retry_after_s` that was not true to the second; empty when all were. */
  readonly untruths: readonly string[];
}

/**
 * Makes a request again and again until it passes, and compares what every 429 said with what happened: no
 * request that begins `retry_after_s` after a refusal may be refused, and none may pass more than a second earlier.
 * What a busy machine adds at the end of that time is no untruth: the longest that an answer has taken so far.
 */
export async function untilItPasses(request: () => Promise<ClientAnswer>): Promise<Passage> {
  const told: Told[] = [];
  const untruths: string[] = [];
  let slowestMs = 0;
  for (;;) {
    const begunAt = performance.now();
    const { status, body } = await request();
    const answeredAt = performance.now();
    slowestMs = Math.max(slowestMs, answeredAt - begunAt);
    const overdue = told.find((one) => begunAt >= dueAt(one) + slowestMs + 1);
    if (status !== 429) {
      const early = told.filter((one) => answeredAt < one.begunAt + one.retryAfterMs - 1_001);
      for (const one of early) {
        untruths.push(`told ${one.retryAfterMs} ms, passed after ${answeredAt - one.begunAt} ms`);
      }
      return { refusals: told.length, untruths };
    }
    if (overdue !== undefined) {
      const waited = begunAt - overdue.answeredAt;
      untruths.push(`told ${overdue.retryAfterMs} ms, refused after ${waited} ms`);
      if (waited > overdue.retryAfterMs + 10_000) return { refusals: told.length, untruths };
    }
    const seconds = (body as { retry_after_s: number }).retry_after_s;
    told.push({ begunAt, answeredAt, retryAfterMs: seconds * 1000 });
    await sleep(seconds > 2 ? pauseMs.far : pauseMs.near);
  }
}
