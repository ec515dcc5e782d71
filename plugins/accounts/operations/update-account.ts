import { Type } from 'typebox';
import type { Accounts } from '../../../core/contracts/accounts.ts';
import type { Caller } from '../../../core/contracts/caller.ts';
import type { Storage } from '../../../core/contracts/storage.ts';
import { GatewayError } from '../../../core/errors.ts';
import { type AnyOperation, operation } from '../../../core/operation.ts';
import { Closed } from '../../../core/schemas.ts';
import { mayUse } from '../../../core/scopes.ts';
import type { ChannelDirectory } from '../channel-access.ts';
import type { ProxyInput } from '../lanes/proxy.ts';
import type { AccountProxies } from '../proxies.ts';
import type { AccountRow } from '../tables/account-rows.ts';
import { accountExample } from './list-accounts.ts';
import { ProxyGiven, refuseProxy } from './proxy-field.ts';
import { Account } from './schemas.ts';

/** Dependencies of the operation. */
export interface UpdateAccountParts extends Pick<Accounts, 'list'> {
  readonly storage: Pick<Storage, 'read'>;
  readonly channels: ChannelDirectory;
  readonly proxies: Pick<AccountProxies, 'refusal' | 'sealed'>;
  /** Answers whether there was such an account. */
  change(input: ProxyInput): Promise<boolean>;
}

/** `PATCH /accounts/{id}`. */
export function updateAccount(parts: UpdateAccountParts): AnyOperation {
  const { storage, channels, proxies, change, list } = parts;
  const found = async (caller: Caller, id: string): Promise<AccountRow> => {
    const [row] = mayUse(caller, id) ? await storage.read.accounts.find([id]) : [];
    if (row !== undefined && row.tenantId === caller.tenantId && row.removedAt === null) return row;
    throw new GatewayError('account_not_found');
  };
  return operation({
    id: 'update_account',
    method: 'PATCH',
    path: '/accounts/{id}',
    tool: null,
    scope: 'connect',
    withinAccounts: true,
    group: 'accounts',
    summary: 'Change an account',
    description:
      'Changes the proxy that the account connects through. Its session reconnects through the new one at once; a ' +
      'message that is under way may then be reported as uncertain. The password of a proxy is never shown again.',
    hints: { readOnly: false, destructive: false, idempotent: true },
    params: Closed({ id: Type.String({ description: 'The id of the account.' }) }),
    query: null,
    body: Closed({ proxy: Type.Optional(ProxyGiven) }),
    answers: { 200: Account },
    errors: ['account_not_found', 'plan_without_channels', 'channel_not_enabled'],
    examples: [
      {
        summary: 'Connect through a proxy',
        params: { id: accountExample.id },
        body: { proxy: 'socks5://user:password@proxy.example.com:1080' },
        answer: {
          status: 200,
          body: { ...accountExample, proxy: 'socks5://user:***@proxy.example.com:1080' },
        },
      },
    ],
    async handler({ caller, params: { id }, body: { proxy } }) {
      const { tenantId, channel } = await found(caller, id);
      if (proxy !== undefined) {
        await refuseProxy(proxies, channels.driver(caller, channel), proxy);
        const input = { tenantId, accountId: id, proxy: proxies.sealed(id, proxy) };
        if (!(await change(input))) throw new GatewayError('account_not_found');
      }
      const account = (await list(caller)).find((one) => one.id === id);
      if (account === undefined) throw new GatewayError('account_not_found');
      return { status: 200, body: account };
    },
  });
}
