import { Type } from 'typebox';
import type { Driver } from '../../../core/contracts/driver.ts';
import { wrongField } from '../../../core/field-refusals.ts';
import { Nullable } from '../../../core/schemas.ts';
import type { AccountProxies } from '../proxies.ts';
import { proxyDescription } from '../proxy-url.ts';

/** The field of a body that names the proxy of an account. */
export const ProxyGiven = Nullable(
  Type.String({
    description: `where the account connects through: ${proxyDescription}; null: directly`,
    maxLength: 2_048,
    examples: ['socks5://user:password@proxy.example.com:1080'],
  }),
);

/** @throws GatewayError `invalid_request` when the channel takes no proxy, or this one cannot be used */
export async function refuseProxy(
  proxies: Pick<AccountProxies, 'refusal'>,
  { capabilities }: Pick<Driver, 'capabilities'>,
  proxy: string | null | undefined,
): Promise<void> {
  if (proxy === null || proxy === undefined) return;
  const problem =
    capabilities.proxies === true
      ? await proxies.refusal(proxy)
      : 'cannot be given: this channel connects directly';
  if (problem !== null) throw wrongField('body/proxy', problem);
}
