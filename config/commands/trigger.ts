import { setTimeout as pause } from 'node:timers/promises';
import { GatewayClient } from '../../client/client.ts';
import type { ApiAccess } from './command.ts';
import type { Output } from './output.ts';
import { UsageError } from './usage.ts';

/** The events that can be made to happen on the simulated network. */
export const triggers = [
  'message.received',
  'message.sent',
  'message.delivered',
  'message.read',
  'message.failed',
  'account.connected',
  'account.disconnected',
  'account.restricted',
] as const;

/** How `trigger` was called. */
export interface TriggerOptions extends ApiAccess {
  readonly event: (typeof triggers)[number];
  /** What is written. */
  readonly text: string;
  /** The contact who writes, or is written to. */
  readonly contact: string;
  /** The phone that it happens to; it is connected first where it is not. */
  readonly phone: string;
  /** The network of that phone. */
  readonly channel: string;
}

/** A phone on one network. */
type Phone = Pick<TriggerOptions, 'phone' | 'channel'>;

/**
 * `trigger`: makes an event happen, with everything that belongs to it, on the simulated network.
 * @throws Refusal; UsageError when the key is none of test mode; Error when the event does not happen
 */
export async function trigger({ baseUrl, apiKey, ...what }: TriggerOptions): Promise<Output> {
  const client = new GatewayClient({ baseUrl, apiKey });
  const { event, text, contact, phone, channel } = what;
  if (!apiKey.startsWith('gw_test_')) {
    throw new UsageError('"trigger" plays the simulated network: use a key of test mode.');
  }
  await connect(client, what, event === 'account.connected');
  const at = { path: { phone }, query: { channel } };
  const send = () => client.send({ account_id: accountId, to: { phone: contact }, text });
  const accountId = await accountOf(client, what);
  switch (event) {
    case 'account.connected':
      break;
    case 'message.received':
      await client.call('write_to_simulated_phone', {
        ...at,
        body: { from: { phone: contact }, text },
      });
      break;
    case 'message.failed': {
      const { send: before } = await client.call('get_simulated_phone', at);
      await client.call('put_simulated_phone', { ...at, body: { send: 'fail' } });
      try {
        await happened(client, event, (await send()).id);
      } finally {
        await client.call('put_simulated_phone', { ...at, body: { send: before } });
      }
      break;
    }
    case 'message.sent':
    case 'message.delivered':
    case 'message.read':
      await happened(client, event, (await send()).id);
      break;
    case 'account.disconnected':
    case 'account.restricted': {
      const type = event === 'account.restricted' ? 'restrict' : 'log_out';
      const body = type === 'restrict' ? ({ type, for_ms: 60_000 } as const) : ({ type } as const);
      await client.call('raise_simulated_phone_event', { ...at, body });
      break;
    }
  }
  return { json: { event, phone, account_id: accountId }, text: `${event} on ${phone}` };
}

/** Connects the phone as its owner would; a connected one stays, unless it is to connect anew. */
async function connect(
  client: GatewayClient,
  { phone, channel }: Phone,
  anew: boolean,
): Promise<void> {
  const path = { channel, identifier: phone };
  const status = await client
    .call('get_connection_status', { path })
    .then(({ status }) => status)
    .catch(() => null);
  if (!anew && isLinked(status)) return;
  const body = { identifier: phone, force_new: true, link_method: 'qr' };
  await client.call('connect', { path: { channel }, body });
  for (let tries = 0; ; tries += 1) {
    try {
      await client.call('scan_with_simulated_phone', { path: { phone }, query: { channel } });
      break;
    } catch (error) {
      // The code takes a moment to be shown.
      if (tries === 50) throw error;
      await pause(100);
    }
  }
  for (let tries = 0; tries < 100; tries += 1) {
    const { status } = await client.call('get_connection_status', { path });
    if (isLinked(status)) return;
    await pause(100);
  }
  throw new Error(`${phone} did not connect within 10 s`);
}

/** A restriction outlasts a new link: the network tells it as soon as the phone is connected. */
function isLinked(status: string | null): boolean {
  return status === 'connected' || status === 'restricted';
}

async function accountOf(client: GatewayClient, { phone, channel }: Phone): Promise<string> {
  const { accounts } = await client.call('list_accounts');
  const account = accounts.find((one) => one.identifier === phone && one.channel === channel);
  if (account === undefined) throw new Error(`${phone} is no account of this key`);
  return account.id;
}

/** The statuses of a message that an event has happened to. */
const reached = {
  'message.sent': ['sent', 'delivered', 'read'],
  'message.delivered': ['delivered', 'read'],
  'message.read': ['read'],
  'message.failed': ['failed'],
} as const;

/**
 * Waits until the event has happened to the message.
 * @throws Error when the message ends otherwise, or gets no further within 10 s
 */
async function happened(
  client: GatewayClient,
  event: keyof typeof reached,
  id: string,
): Promise<void> {
  const wanted: readonly string[] = reached[event];
  for (let tries = 0; ; tries += 1) {
    const { status, error } = await client.call('get_message', { path: { id } });
    if (wanted.includes(status)) return;
    if (status === 'failed' || status === 'read') {
      const why = error === null ? '' : ` (${error})`;
      throw new Error(`${event} did not happen: message ${id} is ${status}${why}.`);
    }
    if (tries === 100) {
      throw new Error(`${event} did not happen within 10 s: message ${id} is still ${status}.`);
    }
    await pause(100);
  }
}
