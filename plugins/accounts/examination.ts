import { type ProxyAddress, proxyUrl } from '../../core/contracts/driver-proxy.ts';
import type { Tables } from '../../core/contracts/storage.ts';
import type { Secrets } from '../secrets/contract.ts';
import { proxyContext } from './proxies.ts';
import { parseProxyUrl } from './proxy-url.ts';

/** A proxy that accounts connect through. */
export interface UsedProxy extends ProxyAddress {
  readonly accounts: number;
}

/** What accounts connect through. */
export interface ProxiesInUse {
  /** Each proxy once, with names of hosts as they were given. */
  readonly used: readonly UsedProxy[];
  /** Ids of the accounts whose proxy no secret opens. */
  readonly unopened: readonly string[];
}

/** How many accounts are looked at: enough for the few proxies that they share. */
const most = 1_000;

/** The proxies of accounts. */
export async function proxiesInUse(
  { accounts }: Pick<Tables, 'accounts'>,
  { open }: Pick<Secrets, 'open'>,
): Promise<ProxiesInUse> {
  const used = new Map<string, UsedProxy>();
  const unopened: string[] = [];
  for (const { id, proxy: sealed } of await accounts.proxies('', most)) {
    const url = opened(() => open(sealed, proxyContext(id)));
    if (url === null) unopened.push(id);
    const proxy = url === null ? null : parseProxyUrl(url);
    if (proxy === null) continue;
    const key = proxyUrl(proxy, true);
    used.set(key, { ...proxy, accounts: (used.get(key)?.accounts ?? 0) + 1 });
  }
  return { used: [...used.values()], unopened };
}

/** Null where no secret opens it. */
function opened(open: () => string): string | null {
  try {
    return open();
  } catch {
    return null;
  }
}
