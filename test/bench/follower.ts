import { Client } from 'undici';
import type { Teardown } from '../harness/processes.ts';

/** Whose inbox is followed. */
export interface Followed {
  /** Such as `http://127.0.0.1:8080`. */
  readonly origin: string;
  readonly key: string;
  /** Called with each text that is shown. It throws when that text may not come now. */
  onText(text: string): void;
}

/** A client that follows its cursor. */
export interface Follower {
  /** Rejects when an answer is not as it must be. */
  readonly failed: Promise<never>;
}

interface Page {
  readonly messages: readonly { readonly text: string }[];
  readonly next_cursor: string;
}

/** Has a client follow a cursor from now on, by one long poll after the other, until the bench is torn down. */
export async function follow(t: Teardown, followed: Followed): Promise<Follower> {
  const { origin, key, onText } = followed;
  const client = new Client(origin);
  let ended = false;
  const page = async (query: string): Promise<Page> => {
    const path = `/v1/messages/wait?${query}`;
    const answer = await client.request({ method: 'GET', path, headers: { 'x-api-key': key } });
    const body = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode} ${body}`);
    return JSON.parse(body) as Page;
  };
  let { next_cursor: cursor } = await page('timeout_s=0');
  const following = async (): Promise<void> => {
    while (!ended) {
      const { messages, next_cursor } = await page(`timeout_s=55&cursor=${cursor}`);
      cursor = next_cursor;
      for (const { text } of messages) onText(text);
    }
  };
  const failed = new Promise<never>((_, reject) => {
    following().catch((error: unknown) => {
      if (!ended) reject(error);
    });
  });
  // Whoever races against it is told.
  failed.catch(() => undefined);
  t.teardown(async () => {
    ended = true;
    await client.destroy();
  });
  return { failed };
}
