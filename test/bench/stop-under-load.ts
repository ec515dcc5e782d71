import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'undici';
import type { RunningGateway } from '../harness/gateway.ts';
import { phoneNumber } from '../harness/story.ts';

/** How many clients send, each one message after the other with a pause between them, in milliseconds. */
const senders = 8;
const pauseMs = 20;
/** How many clients wait for messages that do not come: as many as may. */
const waiters = 2;
/** For how long they do before the signal comes, milliseconds. */
const busyMs = 1_000;

/** How a stop went. */
export interface Stop {
  /** How many messages were accepted, before the signal or after it. */
  readonly accepted: number;
  /** From SIGTERM to the end of the process. */
  readonly tookMs: number;
}

/**
 * Stops a gateway while clients send and wait.
 * @throws Error when the exit code is not 0, or a request that was under way was not answered as it must be
 */
export async function stopUnderLoad(gateway: RunningGateway): Promise<Stop> {
  const origin = new URL(gateway.baseUrl).origin;
  const headers = { 'x-api-key': gateway.key, 'content-type': 'application/json' };
  const clients: Client[] = [];
  let signalAt = Number.POSITIVE_INFINITY;
  let accepted = 0;
  const ask = async (client: Client, method: 'GET' | 'POST', path: string, body: object | null) => {
    const text = body === null ? null : JSON.stringify(body);
    const answer = await client.request({ method, path, headers, body: text });
    return { status: answer.statusCode, text: await answer.body.text() };
  };
  const newClient = (): Client => {
    const client = new Client(origin);
    clients.push(client);
    return client;
  };
  const send = async (_: unknown, place: number): Promise<void> => {
    const client = newClient();
    for (let n = 0; ; n += 1) {
      const begunAt = performance.now();
      const body = { to: { phone: phoneNumber(100 + place) }, text: `Message ${n}` };
      try {
        const { status, text } = await ask(client, 'POST', '/v1/messages', body);
        if (status !== 202) throw new Error(`a send was answered ${status} ${text}`);
      } catch (error) {
        // Nobody promised to serve those who come after the signal.
        if (begunAt > signalAt) return;
        throw error;
      }
      accepted += 1;
      await sleep(pauseMs);
    }
  };
  const wait = async (): Promise<void> => {
    const { status, text } = await ask(newClient(), 'GET', '/v1/messages/wait?timeout_s=55', null);
    if (status !== 200) throw new Error(`a wait was answered ${status} ${text}`);
    if (performance.now() < signalAt) throw new Error('a wait ended before its time');
  };
  const busy = Promise.all([
    ...Array.from({ length: senders }, send),
    ...Array.from({ length: waiters }, wait),
  ]);
  await Promise.race([sleep(busyMs), busy]);
  signalAt = performance.now();
  const code = await gateway.stop();
  const tookMs = performance.now() - signalAt;
  await busy;
  await Promise.all(clients.map((client) => client.destroy()));
  if (code !== 0) throw new Error(`it ended with ${code}: ${gateway.output()}`);
  return { accepted, tookMs };
}
