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
  const { origin, clients, requests, status, onAnswer } = load;
  const pool = new Pool(origin, { connections: clients, pipelining: 1 });
  const times: number[] = [];
  let begun = 0;
  const startedAt = performance.now();
  const client = async (): Promise<void> => {
    while (begun < requests) {
      const { method = 'POST', ...request } = load.request(begun++);
      const at = performance.now();
      const answer = await pool.request({ method, ...request });
      const body = await answer.body.text();
      times.push(performance.now() - at);
      if (answer.statusCode !== status) {
        throw new Error(`${request.path}: ${answer.statusCode} ${body}`);
      }
      onAnswer?.(body);
    }
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
