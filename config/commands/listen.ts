import { setTimeout as pause } from 'node:timers/promises';
import type { EventType, GatewayEvent } from '../../client/events.ts';
import { newId } from '../../core/ids.ts';
import { attemptHeaders } from '../../plugins/webhooks/attempt.ts';
import { newSigningSecret } from '../../plugins/webhooks/subscriptions/secret.ts';
import type { ApiAccess } from './command.ts';
import { reachGateway } from './reach.ts';

/** How long the local receiver may take, in milliseconds, as a webhook may. */
const timeoutMs = 10_000;

/** How `listen` was called. */
export interface ListenOptions extends ApiAccess {
  /** Where each delivery is posted. */
  readonly forward: string;
  /** Null: all that the tenant has. */
  readonly types: readonly string[] | null;
  /** The signing secret; null: a new one. */
  readonly secret: string | null;
}

/**
 * `listen`: follows `GET /events` from now on and posts each event to a receiver on this machine, signed as a delivery
 * is. Prints a line for each. A failed delivery is printed, not repeated. Ends with the signal.
 * @throws Refusal; Error when the gateway cannot be reached
 */
export async function listen(
  { baseUrl, apiKey, forward, types, secret }: ListenOptions,
  print: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const client = await reachGateway({ baseUrl, apiKey }, signal);
  const current = secret ?? newSigningSecret();
  const first = await client.call('list_events', { query: { timeout_s: 0 } }, { signal });
  print(`Signing secret: ${current}`);
  print(`Events of ${baseUrl} go to ${forward}. Ctrl+C ends it.`);
  // The gateway refuses a type that it does not know, by name.
  const chosen = types === null ? {} : { types: types as readonly EventType[] };
  const onMissed = () => print('Events were missed: the gateway does not keep them any longer.');
  const stream = client.events({ ...chosen, cursor: first.cursor, signal, onMissed });
  try {
    for await (const event of stream) {
      const answer = await deliver(event, forward, current);
      print(`${event.created_at}  ${event.type.padEnd(24)}${answer}`);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    // What was printed last leaves before the process ends.
    await pause(0);
  }
}

/** Posts one event; answers what came of it, in words. */
async function deliver(event: GatewayEvent, url: string, secret: string): Promise<string> {
  const payload = JSON.stringify(event.payload);
  const headers = attemptHeaders(
    {
      event: event.type,
      deliveryId: newId('dlv'),
      number: 1,
      payload,
      secrets: { current: secret, previous: null },
    },
    Math.floor(Date.now() / 1000),
  );
  try {
    const request = { method: 'POST', headers, body: payload, redirect: 'manual' } as const;
    const answer = await fetch(url, { ...request, signal: AbortSignal.timeout(timeoutMs) });
    await answer.body?.cancel();
    return String(answer.status);
  } catch (error) {
    const { message, cause } = error as Error;
    return `failed: ${cause instanceof Error ? cause.message : message}`;
  }
}
