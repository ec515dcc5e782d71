import { once } from 'node:events';
import { connect } from 'node:net';
import { proxyUrl } from '../../core/contracts/driver-proxy.ts';
import type { UsedProxy } from '../compose-doctor.ts';
import { bad, type Finding, good } from './finding.ts';

/** How long a proxy may take to be connected to, in milliseconds. */
const patienceMs = 3_000;

/** How many accounts one finding names. */
const mostNamed = 20;

/** A finding about the accounts whose proxies no secret opens. Pure. */
export function judgeUnopened(ids: readonly string[]): readonly Finding[] {
  if (ids.length === 0) return [];
  const more = ids.length - mostNamed;
  const names = `${ids.slice(0, mostNamed).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  return [
    bad(
      'proxies',
      `No secret opens the proxies of ${ids.length} accounts (${names}), which so cannot connect: give the secret that sealed them in GATEWAY_SECRET_PREVIOUS, or set each proxy anew by PATCH /accounts/{id}.`,
    ),
  ];
}

/** Connects to each proxy of the accounts, and says nothing to it. */
export async function examineProxies(proxies: readonly UsedProxy[]): Promise<readonly Finding[]> {
  if (proxies.length === 0) return [];
  const faults = await Promise.all(proxies.map(faultOf));
  const found = faults.filter((fault) => fault !== null);
  return found.length > 0
    ? found
    : [good('proxies', `Each of the ${proxies.length} proxies of accounts can be connected to.`)];
}

async function faultOf(proxy: UsedProxy): Promise<Finding | null> {
  const { host, port, accounts } = proxy;
  const socket = connect({ host, port });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(patienceMs) });
    return null;
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException;
    const reason = name === 'AbortError' ? 'no answer' : (code ?? name);
    return bad(
      'proxies',
      `The proxy ${proxyUrl(proxy, false)} of ${accounts} accounts cannot be connected to (${reason}): start it, or change it by PATCH /accounts/{id}.`,
    );
  } finally {
    socket.destroy();
  }
}
