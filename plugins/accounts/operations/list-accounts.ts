import { Type } from 'typebox';
import type { Cradle } from '../../../core/container.ts';
import type { Accounts, AccountView } from '../../../core/contracts/accounts.ts';
import type { Caller } from '../../../core/contracts/caller.ts';
import { GatewayError } from '../../../core/errors.ts';
import { type AnyOperation, operation } from '../../../core/operation.ts';
import { Closed, nullableTimestamp, timestamp } from '../../../core/schemas.ts';
import { mayUse } from '../../../core/scopes.ts';
import type {} from '../../limits/contract.ts';
import { causeOf } from '../account-state.ts';
import type { AccountProxies } from '../proxies.ts';
import { Account } from './schemas.ts';

export const accountExample = {
  id: 'acc_01jxk5d8a0c1v7m2q3r4s5t6w7',
  channel: 'msgapp_web',
  identifier: '+15550001111',
  status: 'connected',
  status_detail: null,
  status_since: '2026-01-31T09:30:24.512Z',
  new_contacts_blocked_until: null,
  proxy: null,
  limits: { sends: 12, sends_cap: 143, new_contacts: 2, new_contacts_cap: 29 },
  ramp_day: 1,
  created_at: '2026-01-31T09:30:00.000Z',
  connected_at: '2026-01-31T09:30:24.512Z',
} as const;

/** `GET /accounts`. */
export function listAccounts({ list }: Pick<Accounts, 'list'>): AnyOperation {
  return operation({
    id: 'list_accounts',
    method: 'GET',
    path: '/accounts',
    tool: 'list_accounts',
    scope: 'read',
    withinAccounts: true,
    group: 'accounts',
    summary: 'List the connected accounts',
    description:
      'The accounts that were not removed, oldest first. Each has its status, what it has sent today against ' +
      'its caps, and the day of its warm-up ramp. Start here: `id` is the `account_id` of a send. A send takes ' +
      'an account that is `connected`, or one that reconnects after a drop.',
    hints: { readOnly: true, destructive: false, idempotent: true },
    params: null,
    query: null,
    body: null,
    answers: { 200: Closed({ accounts: Type.Array(Account) }) },
    errors: ['api_not_enabled'],
    examples: [
      {
        summary: 'One connected account',
        answer: {
          status: 200,
          body: {
            accounts: [accountExample],
          },
        },
      },
    ],
    async handler({ caller }) {
      if (caller.disabled.has('api')) throw new GatewayError('api_not_enabled');
      return { status: 200, body: { accounts: [...(await list(caller))] } };
    },
  });
}

/**
 * The caller's accounts as the API shows them, oldest first. Takes its services from the cradle when it is called.
 * @throws GatewayError `unavailable`
 */
export async function accountsOf(
  cradle: Pick<Cradle, 'limits' | 'storage'>,
  proxies: Pick<AccountProxies, 'shown'>,
  caller: Caller,
): Promise<readonly AccountView[]> {
  const all = await cradle.storage.read.accounts.ofTenants([caller.tenantId]);
  const rows = all.filter(({ id }) => mayUse(caller, id));
  const today = await cradle.limits.ofAccounts(caller, rows);
  return rows.flatMap((row) => {
    const account = today.get(row.id);
    if (account === undefined) return [];
    return {
      id: row.id,
      channel: row.channel,
      identifier: row.identifier,
      status: row.status,
      status_detail: causeOf(row).detail,
      status_since: timestamp(row.since),
      new_contacts_blocked_until: nullableTimestamp(
        row.restriction === 'new_contacts' ? row.restrictedUntil : null,
      ),
      proxy: proxies.shown(row),
      limits: account.limits,
      ramp_day: account.ramp_day,
      created_at: timestamp(row.createdAt),
      connected_at: nullableTimestamp(row.connectedAt),
    };
  });
}
