import Fastify from 'fastify';
import { Pool } from 'undici';
import { attemptHeaders } from '../../../../plugins/webhooks/attempt.ts';
import { type FloorMessage, Lanes } from './lanes.ts';
import type { Ledger } from './ledger.ts';

const { PORT = '0', RECEIVER_URL = '' } = process.env;
/** Requests that the receiver gets at once, as from the gateway. */
const connections = 10;
const secrets = { current: 'whsec_of_the_floor', previous: null };

/** A message that a contact wrote. */
export interface Received {
  readonly id: string;
  readonly from: string;
  readonly text: string;
}

/** What a floor does with the library. */
export interface FloorSender {
  /**
   * Hands a message over, which may leave once the ledger's rows of before are durable.
   * @returns the network's id, once it was answered
   */
  send(message: FloorMessage): Promise<string>;
}

/**
 * Serves a floor's queue: `POST /messages` adds to it, `GET /left` says how many are not done.
 * @returns what takes a received message: stored, posted, and noted as posted, as a restart would post it again
 */
export async function serveFloor(
  ledger: Ledger,
  { send }: FloorSender,
): Promise<(received: Received) => Promise<void>> {
  const lanes = new Lanes(async (message) => {
    const { id, to: contact, text: body } = message;
    ledger.insert('floor_intents', { id, contact, body, created_at: Date.now() });
    const network_id = await send(message);
    ledger.insert('floor_outcomes', { id, network_id, created_at: Date.now() });
    void ledger.durable();
  });
  const app = Fastify({ logger: false, bodyLimit: 64 * 1024 * 1024 });
  app.post<{ Body: readonly FloorMessage[] }>('/messages', async ({ body }) => {
    lanes.add(body);
    return {};
  });
  app.get('/left', async () => {
    await ledger.durable();
    return { left: lanes.left };
  });
  await app.listen({ host: '127.0.0.1', port: Number(PORT) });
  const receiver = new Pool(new URL(RECEIVER_URL).origin, { connections, pipelining: 1 });
  return async ({ id, from, text }) => {
    const created_at = Date.now();
    ledger.insert('floor_received', { id, contact: from, body: text, created_at });
    await ledger.durable();
    const event = 'message.received';
    const payload = JSON.stringify({
      event,
      created_at: new Date(created_at).toISOString(),
      message: { id, direction: 'inbound', text, media: null, status: 'received', error: null },
      contact: { id: from, phone: from, name: from },
    });
    const facts = { event, deliveryId: id, number: 1, payload, secrets } as const;
    const headers = attemptHeaders(facts, Math.floor(created_at / 1_000));
    const taken = await receiver.request({ path: '/', method: 'POST', headers, body: payload });
    await taken.body.dump();
    ledger.insert('floor_posts', { id, status: taken.statusCode, created_at: Date.now() });
    void ledger.durable();
  };
}
