import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from './client.ts';

/** Waits until `look` answers something other than undefined, and answers that. */
export async function until<Value>(
  what: string,
  look: () => Promise<Value | undefined>,
  timeoutMs = 30_000,
): Promise<Value> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await look();
    if (value !== undefined) return value;
    if (Date.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain for ${what}`);
    await sleep(25);
  }
}

/** Pairs a number by QR code through the sandbox; answers the account's id. */
export async function pair(api: Client, phone: string): Promise<string> {
  const connect = await api.post('/channels/msgapp-web/connections', { phone_number: phone });
  if (connect.status !== 200) throw new Error(`connect: ${JSON.stringify(connect.body)}`);
  await until(`${phone} to be scanned`, async () => {
    const scan = await api.post(`/sandbox/phones/${phone}/scan`);
    return scan.status === 200 ? true : undefined;
  });
  await connected(api, phone);
  return (connect.body as { account_id: string }).account_id;
}

/** Waits until the status of a msgapp number is `connected`. */
export async function connected(api: Client, phone: string, timeoutMs?: number): Promise<void> {
  await until(
    `${phone} to be connected`,
    async () => {
      const answer = await api.get(`/channels/msgapp-web/connections/${phone}/status`);
      return (answer.body as { status?: string }).status === 'connected' ? true : undefined;
    },
    timeoutMs,
  );
}

/** A message as `GET /sandbox/phones/{phone}/outbox` shows it. */
export interface OutboxMessage {
  readonly network_id: string;
  readonly message_id: string;
  readonly to: string;
  readonly text: string;
  readonly attempts: number;
}

/** What the network accepted from a number, in order. */
export async function outbox(api: Client, phone: string): Promise<readonly OutboxMessage[]> {
  const answer = await api.get(`/sandbox/phones/${phone}/outbox`);
  return (answer.body as { messages: OutboxMessage[] }).messages;
}

/** The nth of a row of numbers that exist in no real network. */
export function phoneNumber(n: number): string {
  return `+1202555${String(n).padStart(4, '0')}`;
}
