import type { Client } from './client.ts';
import {
  bodyOf,
  type ConnectionStatus,
  connectionPath,
  type Family,
  isLost,
  mostLost,
  until,
} from './story.ts';

/** What the status operation of a number says now. */
export async function statusOf(
  api: Client,
  family: Family,
  phone: string,
): Promise<ConnectionStatus> {
  return bodyOf(await api.get(connectionPath(family, phone).status));
}

/**
 * Links a number until it is connected, anew where its linking was lost.
 * @param link begins the linking and plays the owner; an error of it counts only where the linking is not lost
 * @returns what `link` answered
 */
export async function untilLinked<Value>(
  api: Client,
  family: Family,
  phone: string,
  link: () => Promise<Value>,
): Promise<Value> {
  for (let lost = 0; lost <= mostLost; lost += 1) {
    const [linked] = await Promise.allSettled([link()]);
    let last: ConnectionStatus | undefined;
    const said = () => (linked.status === 'rejected' ? `; ${linked.reason}` : '');
    const { status } = await until(
      () => `${phone} to be connected: ${JSON.stringify(last)}${said()}`,
      async () => {
        last = await statusOf(api, family, phone);
        return last.status === 'connected' || isLost(last) ? last : undefined;
      },
    );
    if (status !== 'connected') continue;
    if (linked.status === 'rejected') throw linked.reason;
    return linked.value;
  }
  throw new Error(`${phone} is lost again and again`);
}
