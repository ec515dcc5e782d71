import {
  blockedReasons,
  endedReasons,
  lostReasons,
  refusedReasons,
} from '../../../core/contracts/driver.ts';
import type { AccountReason, AccountStatus } from '../../../plugins/accounts/contract.ts';
import type { Client } from '../../harness/client.ts';
import { bodyOf } from '../../harness/story.ts';
import type { Provoked, Row } from './row.ts';

/** The channel of the driver that says what its account is called by. */
export const channel = 'saying';

const connections = `/channels/${channel}/connections`;

/** Connects an account of that driver. */
export async function connectSaying(api: Client, identifier: string): Promise<Provoked> {
  const begun = await api.post(connections, { identifier });
  if (begun.status !== 200) throw new Error(JSON.stringify(begun.body));
  const { account_id: accountId } = bodyOf<{ account_id: string }>(begun);
  return { api, channel, accountId, status: `${connections}/${identifier}/status` };
}

/** Hands in the password that an account named `asks` waits for. */
export async function handIn(api: Client, identifier: string): Promise<void> {
  await api.post(`${connections}/${identifier}/steps`, { field: 'password', value: 'right' });
}

function rowsOf(
  state: string,
  reasons: readonly AccountReason[],
  said: { readonly shown: string; readonly stored: AccountStatus; readonly retryAt?: string },
): readonly Row[] {
  return reasons.map((reason) => ({
    ...said,
    name: `a driver's ${state}: ${reason}`,
    reason,
    detail: `The driver says ${reason} of +15550001111: do something about it.`,
    provoke: ({ live }) => connectSaying(live, `${state}.${reason}@home`),
  }));
}

const retryAt = '2100-01-01T00:00:00.000Z';

/** Every reason that the contract lets a driver give, in every state that carries one. */
export const saidReasons: readonly Row[] = [
  ...rowsOf('lost', lostReasons, { shown: 'connecting', stored: 'connecting', retryAt }),
  ...rowsOf('refused', refusedReasons, { shown: 'error', stored: 'disconnected', retryAt }),
  ...rowsOf('restricted', blockedReasons, { shown: 'restricted', stored: 'restricted' }),
  ...rowsOf('logged_out', endedReasons, { shown: 'disconnected', stored: 'disconnected' }),
];
