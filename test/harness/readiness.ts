import { setTimeout as sleep } from 'node:timers/promises';
import { until } from './story.ts';

/** What `GET /readyz` answers. */
export interface Readiness {
  readonly status: number;
  readonly checks: Readonly<Record<string, string>>;
}

/** Asks a gateway whether it is ready. */
export async function readiness(baseUrl: string): Promise<Readiness> {
  const answer = await fetch(new URL('/readyz', baseUrl));
  const { checks } = (await answer.json()) as Pick<Readiness, 'checks'>;
  return { status: answer.status, checks };
}

/** Polls as a load balancer does, until the status comes; answers after how many milliseconds it was there. */
export async function timeToReadiness(baseUrl: string, status: number): Promise<number> {
  const begunAt = performance.now();
  return await until(`${status} from /readyz`, async () => {
    const found = await readiness(baseUrl);
    return found.status === status ? performance.now() - begunAt : undefined;
  });
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
