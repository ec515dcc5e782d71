import type { Client } from './client.ts';
import { bodyOf, type ConnectionStatus, connectionPath, type Family, until } from './story.ts';

/** How often a number is linked anew. */
export const mostLost = 3;

/**
 * Whether the linking of a number was cut short: on a busy machine a short lease may end before it is renewed, and what
 * is not linked yet ends with it.
 */
export function isLost({ reason }: ConnectionStatus): boolean {
  return reason === 'pairing_abandoned' || reason === 'pairing_timeout';
}

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
 * @param link does what the owner does; what it throws counts only where the linking is not lost
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
