import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { percentile } from './statistics.ts';

/** A request of a load, and what it must be answered. */
export interface LoadRequest {
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Who makes a load, and of what. */
export interface Load {
  /** Such as `http://127.0.0.1:8080`. */
  readonly origin: string;
  /** Each has a connection and one request under way. */
  readonly clients: number;
  readonly requests: number;
  /** The nth request. */
  request(n: number): LoadRequest;
  /** The status that every answer must have. */
  readonly status: number;
  /** Is shown every answer's body. */
  onAnswer?(body: string): void;
}

/** How a load went. */
export interface LoadResult {
  /** From the first request to the last answer, milliseconds. */
  readonly tookMs: number;
  /** Answered requests a second. */
  readonly rate: number;
  /** Of single requests, milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

/**
 * Makes all requests of a load, each client one after the other.
 * @throws Error with the first answer that is not as it must be
 */
export async function runLoad(load: Load): Promise<LoadResult> {
  const { origin, clients, requests } = load;
  const pool = new Pool(origin, { connections: clients, pipelining: 1 });
  const times: number[] = [];
  let begun = 0;
  const startedAt = performance.now();
  const client = async (): Promise<void> => {
    while (begun < requests) times.push(await ask(pool, load, begun++));
  };
  try {
    await Promise.all(Array.from({ length: clients }, client));
    const tookMs = performance.now() - startedAt;
    const rate = (requests / tookMs) * 1000;
    return { tookMs, rate, p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
  } finally {
    await pool.close();
  }
}

/**
 * Makes all requests of a load at an even pace, whether the ones before are answered or not; those for which no client
 * is free wait.
 * @throws Error with the first answer that is not as it must be
 */
export async function runPaced(load: Load, perSecond: number): Promise<void> {
  const { origin, clients, requests } = load;
  const pool = new Pool(origin, { connections: clients, pipelining: 1 });
  const one = async (n: number): Promise<void> => {
    await sleep((n * 1000) / perSecond);
    await ask(pool, load, n);
  };
  try {
    await Promise.all(Array.from({ length: requests }, (_, n) => one(n)));
  } finally {
    await pool.close();
  }
}

/** Makes the nth request; answers how long it took, in milliseconds. */
async function ask(pool: Pool, load: Load, n: number): Promise<number> {
  const { method = 'POST', ...request } = load.request(n);
  const at = performance.now();
  const answer = await pool.request({ method, ...request });
  const body = await answer.body.text();
  const tookMs = performance.now() - at;
  if (answer.statusCode !== load.status) {
    throw new Error(`${request.path}: ${answer.statusCode} ${body}`);
  }
  load.onAnswer?.(body);
  return tookMs;
}
