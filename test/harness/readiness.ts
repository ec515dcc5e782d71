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
