import type { AccountPayload } from '../../core/event-payloads.ts';
import { timestamp } from '../../core/schemas.ts';
import type { EventRecord } from '../events/contract.ts';
import type { AccountRow } from './tables/account-rows.ts';
import type { AccountEvent } from './transitions.ts';

/** The fields of an account that its events show. */
export type EventAccount = Pick<AccountRow, 'id' | 'tenantId' | 'channel' | 'identifier'>;

/** An account event as the outbox takes it, with the payload that `docs/webhooks.md` shows. */
export function accountEvent(account: EventAccount, event: AccountEvent, at: number): EventRecord {
  const { id, channel, identifier } = account;
  return {
    tenantId: account.tenantId,
    type: event.type,
    subject: id,
    payload: {
      event: event.type,
      created_at: timestamp(at),
      account_id: id,
      channel,
      account: { id, channel, identifier, status: event.status, reason: event.reason },
    } satisfies AccountPayload,
    at,
  };
}
