import { setTimeout as sleep } from 'node:timers/promises';
import { until } from './story.ts';
import { besideMachine, type Times } from './times.ts';

/** Longer than any answer of a probe, in milliseconds. */
const answerMs = 60_000;

/** What `GET /readyz` answers. */
export interface Readiness {
  readonly status: number;
  readonly checks: Readonly<Record<string, string>>;
}

/** Asks a gateway whether it is ready. */
export async function readiness(baseUrl: string): Promise<Readiness> {
  const signal = AbortSignal.timeout(answerMs);
  const answer = await fetch(new URL('/readyz', baseUrl), { signal });
  const { checks } = (await answer.json()) as Pick<Readiness, 'checks'>;
  return { status: answer.status, checks };
}

/** Polls as a load balancer does, until the status comes; answers how long that took. */
export function timeToReadiness(baseUrl: string, status: number): Promise<Times> {
  return besideMachine(() =>
    until(`${status} from /readyz`, async () =>
      (await readiness(baseUrl)).status === status ? true : undefined,
    ),
  );
}

/**
 * Asks the gateways for their readiness ten times a second.
 * @returns ends it and answers the longest that one answer took, milliseconds; a process that is not there has none
 */
export function watchReadiness(origins: readonly string[]): () => Promise<number> {
  const ended = new AbortController();
  let slowest = 0;
  const watching = origins.map(async (origin) => {
    while (!ended.signal.aborted) {
      const begunAt = performance.now();
      const answer = await fetch(`${origin}/readyz`).catch(() => null);
      await answer?.body?.cancel();
      if (answer !== null) slowest = Math.max(slowest, performance.now() - begunAt);
      await sleep(100);
    }
  });
  return async () => {
    ended.abort();
    await Promise.all(watching);
    return slowest;
  };
}
