import type { GatewayClient } from '../../client/client.ts';
import type { ApiAccess } from './command.ts';
import type { Output } from './output.ts';
import { reachGateway } from './reach.ts';
import { type SendEvent, sendUntil, whileSendsFail } from './trigger-message.ts';
import { connectPhone, reachStatus, type TriggerPhone } from './trigger-phone.ts';
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
export interface TriggerOptions extends ApiAccess, TriggerPhone {
  readonly event: (typeof triggers)[number];
  /** What is written. */
  readonly text: string;
  /** The contact who writes, or is written to. */
  readonly contact: string;
}

/**
 * `trigger`: makes an event happen, with everything that belongs to it, on the simulated network. The phone is connected
 * first where it is not.
 * @param signal ends it; the phone is left as it was
 * @throws Refusal; UsageError when the key is none of test mode; Error when the gateway cannot be reached or the event
 *   does not happen; the signal's reason
 */
export async function trigger(
  { baseUrl, apiKey, ...what }: TriggerOptions,
  signal: AbortSignal,
): Promise<Output> {
  const { event, text, contact, phone, channel } = what;
  if (!apiKey.startsWith('gw_test_')) {
    throw new UsageError('"trigger" plays the simulated network: use a key of test mode.');
  }
  const client = await reachGateway({ baseUrl, apiKey }, signal);
  const status = await connectPhone(client, what, event === 'account.connected', signal);
  const at = { path: { phone }, query: { channel } };
  const accountId = await accountOf(client, what);
  const write = async () => {
    const body = { from: { phone: contact }, text };
    await client.call('write_to_simulated_phone', { ...at, body }, { signal });
  };
  const message = { account_id: accountId, to: { phone: contact }, text };
  const send = (event: SendEvent) => sendUntil({ client, message, write, signal }, event);
  switch (event) {
    case 'account.connected':
      break;
    case 'message.received':
      await write();
      break;
    case 'message.failed':
      await whileSendsFail(client, at, () => send(event));
      break;
    case 'message.sent':
    case 'message.delivered':
    case 'message.read':
      await send(event);
      break;
    case 'account.disconnected':
      await client.call('raise_simulated_phone_event', { ...at, body: { type: 'log_out' } });
      await reachStatus(client, what, 'disconnected', signal);
      break;
    case 'account.restricted': {
      if (status === 'restricted') {
        throw new Error(`${event} did not happen: ${phone} is restricted already.`);
      }
      const body = { type: 'restrict', for_ms: 60_000 } as const;
      await client.call('raise_simulated_phone_event', { ...at, body });
      await reachStatus(client, what, 'restricted', signal);
      break;
    }
  }
  return { json: { event, phone, account_id: accountId }, text: `${event} on ${phone}` };
}

async function accountOf(client: GatewayClient, { phone, channel }: TriggerPhone): Promise<string> {
  const { accounts } = await client.call('list_accounts');
  const account = accounts.find((one) => one.identifier === phone && one.channel === channel);
  if (account === undefined) throw new Error(`${phone} is no account of this key`);
  return account.id;
}
