import type { GatewayClient } from '../../client/client.ts';
import { isRefusal } from '../../client/refusal.ts';
import { withinTenSeconds } from './trigger-phone.ts';

/** The statuses of a message that an event has happened to. */
const reached = {
  'message.sent': ['sent', 'delivered', 'read'],
  'message.delivered': ['delivered', 'read'],
  'message.read': ['read'],
  'message.failed': ['failed'],
} as const;

/** The events that can happen to a message that is sent. */
export type SendEvent = keyof typeof reached;

/** Dependencies of a message trigger. */
export interface MessageParts {
  readonly client: GatewayClient;
  readonly message: Parameters<GatewayClient['send']>[0];
  /** Lets the recipient write to the account. */
  readonly write: () => Promise<void>;
  readonly signal: AbortSignal;
}

/**
 * Sends the message and waits until the event has happened to it.
 * @throws Refusal; Error when the message ends otherwise, or gets no further within 10 s; the signal's reason
 */
export async function sendUntil(parts: MessageParts, event: SendEvent): Promise<void> {
  const { client, signal } = parts;
  const id = await send(parts);
  const wanted: readonly string[] = reached[event];
  let last = '';
  const isThere = await withinTenSeconds(async () => {
    const { status, error } = await client.call('get_message', { path: { id } }, { signal });
    if (wanted.includes(status)) return true;
    if (status === 'failed' || status === 'read') {
      const why = error === null ? '' : ` (${error})`;
      throw new Error(`${event} did not happen: message ${id} is ${status}${why}.`);
    }
    last = status;
    return undefined;
  }, signal);
  if (isThere === undefined) {
    throw new Error(`${event} did not happen within 10 s: message ${id} is still ${last}.`);
  }
}

/** Answers the message's id. Where only a known contact can be written to, the contact writes first. */
async function send({ client, message, write, signal }: MessageParts): Promise<string> {
  let refusal: unknown;
  const id = await withinTenSeconds(async () => {
    try {
      return (await client.send(message, { signal })).id;
    } catch (error) {
      if (!isContactMissing(error)) throw error;
      if (refusal === undefined) await write();
      // The contact is known as soon as its message is stored.
      refusal = error;
      return undefined;
    }
  }, signal);
  if (id === undefined) throw refusal;
  return id;
}

function isContactMissing(error: unknown): boolean {
  if (!isRefusal(error)) return false;
  return error.code === 'contact_required' || error.code === 'chatapp_requires_existing_contact';
}

/**
 * Lets the network refuse what the phone sends meanwhile. A phone that does so already is left to whoever wanted that.
 * @param at the phone, as the operations of the sandbox name it
 */
export async function whileSendsFail(
  client: GatewayClient,
  at: { readonly path: { phone: string }; readonly query: { channel: string } },
  work: () => Promise<void>,
): Promise<void> {
  const { send: before } = await client.call('get_simulated_phone', at);
  if (before === 'fail') return await work();
  try {
    await client.call('put_simulated_phone', { ...at, body: { send: 'fail' } });
    await work();
  } finally {
    await client.call('put_simulated_phone', { ...at, body: { send: before } });
  }
}
