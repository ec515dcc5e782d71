import type { Row } from '../../../core/contracts/sql.ts';
import type { Contact } from '../contract.ts';

/** A row as the engines return it. */
export interface ContactColumns {
  readonly id: string;
  readonly tenant_id: string;
  readonly channel: string;
  readonly phone: string | null;
  readonly network_id: string | null;
  readonly name: string | null;
  readonly name_set: number;
  readonly do_not_disturb: number;
  readonly private: number;
  readonly automation_paused: number;
  readonly uncounted: number;
  readonly created_at: number;
}

/** A row as a contact. */
export function contactFromColumns(row: ContactColumns): Contact {
  return {
    id: row.id,
    tenantId: row.tenant_id,
    channel: row.channel,
    phone: row.phone,
    networkId: row.network_id,
    name: row.name ?? '',
    nameSet: row.name_set === 1,
    doNotDisturb: row.do_not_disturb === 1,
    private: row.private === 1,
    automationPaused: row.automation_paused === 1,
    uncounted: row.uncounted === 1,
    createdAt: row.created_at,
  };
}

/** A contact as its row. */
export function toRow(contact: Contact): Row {
  return {
    id: contact.id,
    tenant_id: contact.tenantId,
    channel: contact.channel,
    created_at: contact.createdAt,
    ...changeableContactRow(contact),
  };
}

/** What of a contact can change, by column. */
export function changeableContactRow(contact: Contact): Row {
  return {
    id: contact.id,
    phone: contact.phone,
    network_id: contact.networkId,
    name: contact.name,
    name_set: contact.nameSet ? 1 : 0,
    do_not_disturb: contact.doNotDisturb ? 1 : 0,
    private: contact.private ? 1 : 0,
    automation_paused: contact.automationPaused ? 1 : 0,
    uncounted: contact.uncounted ? 1 : 0,
  };
}
