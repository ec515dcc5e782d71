import { type ProxyAddress, proxyUrl } from '../../core/contracts/driver-proxy.ts';
import type { Tables } from '../../core/contracts/storage.ts';
import { parseProxyUrl } from '../../core/proxy-url.ts';
import type { Secrets } from '../secrets/contract.ts';
import { proxyContext } from './proxies.ts';

/** A proxy that accounts connect through. */
export interface UsedProxy extends ProxyAddress {
  readonly accounts: number;
}

/** How many accounts are looked at: enough for the few proxies that they share. */
const most = 1_000;

/** The proxies of accounts, each once, with names of hosts as they were given. */
export async function proxiesInUse(
  { accounts }: Pick<Tables, 'accounts'>,
  { open }: Pick<Secrets, 'open'>,
): Promise<readonly UsedProxy[]> {
  const used = new Map<string, UsedProxy>();
  for (const { id, proxy: sealed } of await accounts.proxies('', most)) {
    const proxy = parseProxyUrl(open(sealed, proxyContext(id)));
    if (proxy === null) continue;
    const key = proxyUrl(proxy, true);
    used.set(key, { ...proxy, accounts: (used.get(key)?.accounts ?? 0) + 1 });
  }
  return [...used.values()];
}
