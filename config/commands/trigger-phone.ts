import { setTimeout as pause } from 'node:timers/promises';
import type { GatewayClient } from '../../client/client.ts';
import { isRefusal } from '../../client/refusal.ts';

/** A phone on one network. */
export interface TriggerPhone {
  readonly phone: string;
  readonly channel: string;
}

/** The status of its connection; null when there is none. */
type Status = string | null;

/**
 * Asks every 100 ms, for about 10 s, until there is an answer other than undefined.
 * @returns undefined when none came
 * @throws what `ask` throws, or the reason of the signal
 */
export async function withinTenSeconds<Answer>(
  ask: () => Promise<Answer | undefined>,
  signal?: AbortSignal,
): Promise<Answer | undefined> {
  for (let tries = 0; ; tries += 1) {
    signal?.throwIfAborted();
    const answer = await ask();
    if (answer !== undefined || tries === 100) return answer;
    await pause(100);
  }
}

/** A restriction outlasts a new link: the network tells it as soon as the phone is connected. */
function isLinked(status: Status): boolean {
  return status === 'connected' || status === 'restricted';
}

async function statusOf(
  client: GatewayClient,
  { phone, channel }: TriggerPhone,
  signal: AbortSignal,
): Promise<Status> {
  const path = { channel, identifier: phone };
  try {
    return (await client.call('get_connection_status', { path }, { signal })).status;
  } catch (error) {
    if (isRefusal(error) && error.code === 'connection_not_found') return null;
    throw error;
  }
}

/**
 * Connects the phone as its owner would.
 * @param anew whether a link that there is gives way; else it stays, and one that reconnects is waited for
 * @returns the status: connected or restricted
 * @throws Error when it is neither within 10 s
 */
export async function connectPhone(
  client: GatewayClient,
  of: TriggerPhone,
  anew: boolean,
  signal: AbortSignal,
): Promise<Status> {
  const { phone, channel } = of;
  const before = await statusOf(client, of, signal);
  if (!anew && isLinked(before)) return before;
  let isScanned = !(await beginLink(client, of, anew, signal));
  let refusal: unknown;
  const linked = await withinTenSeconds(async () => {
    const status = await statusOf(client, of, signal);
    if (isLinked(status)) return { status };
    if (isScanned) return undefined;
    try {
      const at = { path: { phone }, query: { channel } };
      await client.call('scan_with_simulated_phone', at, { signal });
      isScanned = true;
    } catch (error) {
      // The code takes a moment to be shown; another trigger may have scanned it.
      refusal = error;
    }
    return undefined;
  }, signal);
  if (linked !== undefined) return linked.status;
  if (!isScanned) throw refusal;
  throw new Error(`${phone} did not connect within 10 s`);
}

/** Answers false when the phone is linked already, and only has to reconnect. */
async function beginLink(
  client: GatewayClient,
  { phone, channel }: TriggerPhone,
  anew: boolean,
  signal: AbortSignal,
): Promise<boolean> {
  const body = { identifier: phone, force_new: anew, link_method: 'qr' };
  try {
    await client.call('connect', { path: { channel }, body }, { signal });
    return true;
  } catch (error) {
    if (!anew && isRefusal(error) && error.code === 'already_connected') return false;
    throw error;
  }
}

/** Waits until the connection has the status. @throws Error when it has not within 10 s */
export async function reachStatus(
  client: GatewayClient,
  of: TriggerPhone,
  wanted: string,
  signal: AbortSignal,
): Promise<void> {
  let last: Status = null;
  const reached = await withinTenSeconds(async () => {
    last = await statusOf(client, of, signal);
    return last === wanted || undefined;
  }, signal);
  if (reached === undefined) {
    throw new Error(`${of.phone} is not ${wanted} after 10 s: it is still ${last}.`);
  }
}
