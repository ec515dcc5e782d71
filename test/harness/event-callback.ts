import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import * as z from 'zod';
import type { Teardown } from './processes.ts';
import { type Received, type Receiver, startReceiver } from './receiver.ts';
import { connectStateless } from './stateless-agent.ts';

/** An event as a callback gets it. */
export interface CallbackEvent {
  readonly eventId: string;
  readonly name: string;
  readonly timestamp: string;
  readonly data: { readonly event: string; readonly account_id: string | null };
}

/** A callback of MCP Events, judged by the library of Standard Webhooks. */
export interface EventCallback {
  readonly receiver: Receiver;
  /** The events that came to a path, verified, in order. */
  events(path: string): readonly CallbackEvent[];
  /** The messages at a path that are no events, verified: their bodies. */
  controls(path: string): readonly { readonly type: string }[];
  /** What no secret of its path verified. */
  readonly unsigned: readonly Received[];
}

/** A new secret of a client. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/**
 * Starts a callback: it echoes challenges, and answers events with `statusOf`, by default 204.
 * @param secretOf the secret that has to verify what comes to a path
 */
export async function startCallback(
  t: Teardown,
  secretOf: (path: string) => string,
  statusOf: (received: Received) => number = () => 204,
): Promise<EventCallback> {
  const unsigned: Received[] = [];
  const verified: Received[] = [];
  const receiver = await startReceiver(t, (received) => {
    const text = received.rawBody.toString('utf8');
    try {
      const headers = Object.entries(received.headers).map(([k, v]) => [k, String(v)] as const);
      new Webhook(secretOf(received.path)).verify(text, Object.fromEntries(headers));
    } catch {
      unsigned.push(received);
      return 401;
    }
    verified.push(received);
    const { type, challenge } = JSON.parse(text) as { type?: string; challenge?: string };
    if (type !== 'verification') return statusOf(received);
    return (response) => void response.end(JSON.stringify({ challenge }));
  });
  const bodies = (path: string) =>
    verified
      .filter((one) => one.path === path)
      .map(({ rawBody }) => JSON.parse(rawBody.toString('utf8')));
  return {
    receiver,
    unsigned,
    events: (path) => bodies(path).filter((body) => !('type' in body)),
    controls: (path) => bodies(path).filter((body) => 'type' in body),
  };
}

/** What a method of MCP Events answered: its result, or its refusal. */
export type EventsAnswer = Readonly<Record<string, unknown>> & {
  readonly error?: { readonly code: number; readonly message: string; readonly data?: object };
};

/** Connects the official client with a key; answers what calls the methods of MCP Events. */
export async function eventsClient(t: Teardown, mcpUrl: string, key: string) {
  const { client } = await connectStateless(t, mcpUrl, key, { pin: '2026-07-28' });
  return async (method: string, params: object = {}): Promise<EventsAnswer> => {
    try {
      return await client.request({ method, params: { ...params } }, z.looseObject({}));
    } catch (error) {
      const { code, message, data } = error as { code: number; message: string; data?: object };
      if (typeof code !== 'number') throw error;
      return { error: { code, message, ...(data === undefined ? {} : { data }) } };
    }
  };
}
