import { type ProxyAddress, proxyUrl } from '../../core/contracts/driver-proxy.ts';
import { asError } from '../../core/error-code.ts';
import type { GatewayLog } from '../../core/log.ts';
import type { Egress } from '../egress/contract.ts';
import type { Secrets } from '../secrets/contract.ts';
import { parseProxyUrl } from './proxy-url.ts';
import type { AccountRow } from './tables/account-rows.ts';

/** Dependencies of the proxies of accounts. */
export interface AccountProxiesParts {
  readonly sealer: Pick<Secrets, 'seal' | 'open'>;
  readonly egress: Pick<Egress, 'addressOf'>;
  /** Whether a proxy may be on a private network. */
  readonly allowPrivate: boolean;
  readonly log: Pick<GatewayLog, 'error'>;
}

type Proxied = Pick<AccountRow, 'id' | 'proxy'>;

/** The context of an account's proxy for `secrets.seal` and `secrets.open`. Pure. */
export function proxyContext(accountId: string): string {
  return `proxy:${accountId}`;
}

/** The proxies through which accounts connect: sealed in their records, looked up at each connection. */
export class AccountProxies {
  readonly #parts: AccountProxiesParts;

  constructor(parts: AccountProxiesParts) {
    this.#parts = parts;
  }

  /** An address as the record keeps it; null, for none, is sealed as well: each change has a text of its own. */
  sealed(accountId: string, url: string | null): string {
    return this.#parts.sealer.seal(url ?? '', proxyContext(accountId));
  }

  /** A record's former proxy under the current key; one that no key opens is as it was. */
  resealed({ id, proxy }: Proxied): string | null {
    const { sealer } = this.#parts;
    try {
      return proxy && sealer.seal(sealer.open(proxy, proxyContext(id)), proxyContext(id));
    } catch {
      return proxy;
    }
  }

  /** For people, without its password; null when the account connects directly, a sentence when no key opens it. */
  shown(account: Proxied): string | null {
    const proxy = this.#opened(account);
    if (proxy instanceof Error) return 'The gateway cannot open the proxy: set it anew.';
    return proxy && proxyUrl(proxy, false);
  }

  /** Why an address cannot be used, as the end of a sentence that names its field; null when it can. */
  async refusal(url: string): Promise<string | null> {
    const proxy = parseProxyUrl(url);
    if (proxy === null) return 'is no such address';
    const found = await this.#lookUp(proxy);
    return typeof found === 'string' ? `cannot be used: ${found.replace(/\.$/, '')}` : null;
  }

  /** Whether two records name one proxy, under whichever key each is sealed; not where no key opens one of them. */
  isSame(one: Proxied, other: Proxied): boolean {
    const [first, second] = [this.#opened(one), this.#opened(other)];
    if (first instanceof Error || second instanceof Error) return false;
    if (first === null || second === null) return first === second;
    return proxyUrl(first, true) === proxyUrl(second, true);
  }

  /** The proxy to connect through now, null for none; or a sentence that says why there is no way to it. */
  async through(account: Proxied): Promise<ProxyAddress | null | string> {
    const proxy = this.#opened(account);
    if (!(proxy instanceof Error)) return proxy && this.#lookUp(proxy);
    const fields = { err: proxy, account: account.id };
    this.#parts.log.error(fields, 'the proxy of an account cannot be opened');
    return 'The gateway cannot open it.';
  }

  /** Null for none; an error when no key opens it: whoever lists many records shows the others. */
  #opened({ id, proxy }: Proxied): ProxyAddress | null | Error {
    if (proxy === null) return null;
    try {
      return parseProxyUrl(this.#parts.sealer.open(proxy, proxyContext(id)));
    } catch (error) {
      return asError(error);
    }
  }

  async #lookUp(proxy: ProxyAddress): Promise<ProxyAddress | string> {
    const { egress, allowPrivate } = this.#parts;
    const found = await egress.addressOf(proxy.host, allowPrivate);
    return found.answered ? { ...proxy, host: found.answer } : found.failure.message;
  }
}
