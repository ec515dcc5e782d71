import { request } from 'undici';
import type { History, Place } from './seed.ts';

/** An account that is connected to the simulated network. */
export interface LiveAccount {
  readonly id: string;
  readonly phone: string;
  /** Some that have written to it, so that a message to them opens nothing. */
  readonly contacts: readonly string[];
}

/** A tenant whose operations are timed. */
export interface Subject {
  /** Such as `http://127.0.0.1:8080`. */
  readonly origin: string;
  readonly key: string;
  readonly accounts: readonly LiveAccount[];
  readonly history: History;
  readonly webhookId: string;
  /** The one in the middle of the subscription's log. */
  readonly delivery: Place;
  /** Makes a cursor that an operation takes for its own. */
  cursor(operation: string, position: readonly (string | number)[]): string;
}

/** An answer, and how long it took, milliseconds. */
export interface Timed<Body> {
  readonly tookMs: number;
  readonly body: Body;
}

/**
 * Makes one request of a tenant. The caller states the type of the answer's body.
 * @throws Error with an answer that is no success
 */
export async function ask<Body>(
  { origin, key }: Subject,
  method: 'GET' | 'POST',
  path: string,
  body?: object,
): Promise<Timed<Body>> {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const at = performance.now();
  const answer = await request(`${origin}/v1${path}`, { method, headers, ...sent });
  const text = await answer.body.text();
  const tookMs = performance.now() - at;
  if (answer.statusCode >= 300) throw new Error(`${path}: ${answer.statusCode} ${text}`);
  return { tookMs, body: JSON.parse(text) as Body };
}
