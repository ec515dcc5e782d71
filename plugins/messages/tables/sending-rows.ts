import type { AccountStatus } from '../../accounts/contract.ts';
import type { Contact } from '../../contacts/contract.ts';
import type { Tenant, TenantMode, TenantStatus } from '../../tenants/contract.ts';

/** A tenant as a send must know it. */
export type SendingTenant = Pick<Tenant, 'id' | 'mode' | 'plan' | 'status' | 'ramp'>;

/** An account as a send must know it. */
export interface SendingAccount {
  readonly id: string;
  readonly tenantId: string;
  readonly channel: string;
  readonly status: AccountStatus;
  /** Its credentials are complete: with status `connecting` it is reconnecting. */
  readonly linked: boolean;
  /** When its restriction ends by itself; null without one, and when nobody knows. */
  readonly restrictedUntil: number | null;
  readonly rampDayOne: string | null;
  /** The number of its latest outbound message, 0 before the first. */
  readonly sequence: number;
}

/** A contact as a send must know it. */
export type SendingContact = Pick<
  Contact,
  'id' | 'tenantId' | 'channel' | 'phone' | 'networkId' | 'doNotDisturb' | 'private' | 'uncounted'
>;

/** Sends and new contacts of a tenant, or of an account, of one day. */
export interface DayCount {
  sends: number;
  newContacts: number;
}

/** Account and contact that a send names, the contact by id, by address or by phone. */
export interface SendReference {
  readonly tenantId: string;
  /** Null where none was named. */
  readonly accountId: string | null;
  readonly contactId: string | null;
  /** Counts where there is no id and no address; E.164 with `+`. */
  readonly phone: string | null;
  /** Counts where there is no id: the address as each channel stores it, by channel; null: none was given. */
  readonly addresses?: ReadonlyMap<string, string> | null;
}

/** What there is to know of what a send names. */
export interface SendSnapshot {
  readonly tenant: SendingTenant;
  /** Null where none was named, and where the tenant has none of that id. */
  readonly account: SendingAccount | null;
  readonly tenantCount: DayCount;
  readonly accountCount: DayCount;
  /** The id that was named, where that is an alias. */
  readonly alias: string | null;
  /** On whichever channel. */
  readonly contact: SendingContact | null;
  /** Something passed between that contact and that account. */
  readonly hasThread: boolean;
  /** The contact has written so often that the loop guard has to count its messages. */
  readonly busy: boolean;
}

/** What is read of an account under the same names, whichever way it is found. */
interface AccountColumns {
  readonly linked: number;
  readonly restricted_until: number | null;
  readonly ramp_day_one: string | null;
  readonly outbound_sequence: number;
}

/**
 * An account `a` and a contact `c` that a send names, with the thread `h` of the two, the tenant `t` and today's
 * counters: `d` the tenant's, `e` the account's.
 */
export interface SendingColumns extends AccountColumns {
  readonly tenant: string;
  readonly mode: TenantMode;
  readonly plan: string;
  readonly tenant_status: TenantStatus;
  readonly ramp: number;
  readonly account: string | null;
  readonly account_channel: string;
  readonly account_status: AccountStatus;
  readonly tenant_sends: number | null;
  readonly tenant_contacts: number | null;
  readonly account_sends: number | null;
  readonly account_contacts: number | null;
  /** The id that was named, where it is an alias of the contact's. */
  readonly alias: string | null;
  readonly contact: string | null;
  readonly channel: string;
  readonly phone: string | null;
  readonly network_id: string | null;
  readonly do_not_disturb: number;
  readonly private: number;
  readonly uncounted: number;
  readonly busy: number;
  readonly thread: string | null;
}

/** What is selected of the tables; `alias` and `busy` are computed. */
export const sendingColumns = `t.id as tenant, t.mode, t.plan, t.status as tenant_status, t.ramp,
  a.id as account, a.channel as account_channel, a.status as account_status, a.linked,
  a.restricted_until, a.ramp_day_one, a.outbound_sequence,
  d.sends as tenant_sends, d.new_contacts as tenant_contacts,
  e.sends as account_sends, e.new_contacts as account_contacts,
  c.id as contact, c.channel, c.phone, c.network_id, c.do_not_disturb, c.private,
  c.uncounted,
  h.account_id as thread`;

/** The joins to both counters; each `?` is the day. */
export const counterJoins = `left join usage_counters d
    on d.tenant_id = t.id and d.day = ? and d.account_id = ''
  left join usage_counters e on e.tenant_id = t.id and e.day = ? and e.account_id = a.id`;

/** An account that a send may choose. */
export interface CandidateColumns extends AccountColumns {
  readonly id: string;
  readonly tenant_id: string;
  readonly channel: string;
  readonly status: AccountStatus;
}

/** A row as an account that a send may choose. */
export function candidate(row: CandidateColumns): SendingAccount {
  return accountOf(row.id, row.tenant_id, row.channel, row.status, row);
}

/** A row as what there is to know of what a send names. */
export function snapshotOf(row: SendingColumns): SendSnapshot {
  return {
    tenant: {
      id: row.tenant,
      mode: row.mode,
      plan: row.plan,
      status: row.tenant_status,
      ramp: row.ramp === 1,
    },
    account:
      row.account === null
        ? null
        : accountOf(row.account, row.tenant, row.account_channel, row.account_status, row),
    tenantCount: count(row.tenant_sends, row.tenant_contacts),
    accountCount: count(row.account_sends, row.account_contacts),
    alias: row.alias,
    contact:
      row.contact === null
        ? null
        : {
            id: row.contact,
            tenantId: row.tenant,
            channel: row.channel,
            phone: row.phone,
            networkId: row.network_id,
            doNotDisturb: row.do_not_disturb === 1,
            private: row.private === 1,
            uncounted: row.uncounted === 1,
          },
    hasThread: row.thread !== null,
    busy: row.busy === 1,
  };
}

function accountOf(
  id: string,
  tenantId: string,
  channel: string,
  status: AccountStatus,
  row: AccountColumns,
): SendingAccount {
  return {
    id,
    tenantId,
    channel,
    status,
    linked: row.linked === 1,
    restrictedUntil: row.restricted_until,
    rampDayOne: row.ramp_day_one,
    sequence: row.outbound_sequence,
  };
}

function count(sends: number | null, newContacts: number | null): DayCount {
  return { sends: sends ?? 0, newContacts: newContacts ?? 0 };
}
