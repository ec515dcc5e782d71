import { olderThan, type Sql } from '../../../core/contracts/sql.ts';
import type { ListPosition } from '../../../core/list-position.ts';
import type { WantedAccounts } from '../../../core/scopes.ts';
import type { Contact } from '../contract.ts';
import { type ContactColumns, contactFromColumns } from './contact-rows.ts';

/** Which contacts a list holds, newest first. */
export interface ContactFilter {
  readonly channel: string | null;
  readonly phone: string | null;
  /** Those whose phone or network id is one of these. */
  readonly addresses?: readonly string[];
  /** Those that exchanged messages with one of these accounts; all when absent or null. */
  readonly accounts?: WantedAccounts;
  readonly before: ListPosition | null;
  readonly limit: number;
}

/** True of all contacts but the erased ones: what is left of these has no address. */
export const notErased = '(phone is not null or network_id is not null)';

/** When an erased contact was made: lists end before those, however many they are. */
export const erasedAt = 0;

/** The index by which contacts are listed: in its order, or found by a phone on whichever channel. */
function listIndex({ channel, phone }: ContactFilter): string {
  const filtered = channel === null ? 'tenant_id' : 'tenant_id_channel';
  return `contacts_${filtered}_${phone === null ? 'created_at_id' : 'phone'}`;
}

/** A list of contacts, newest first, by (created_at, id), which is the order of the ids. */
export async function listContacts(
  db: Sql,
  tenantId: string,
  filter: ContactFilter,
): Promise<readonly Contact[]> {
  const { knex, dialect } = db;
  const { accounts = null } = filter;
  const isNamed = filter.phone !== null || filter.addresses !== undefined;
  if (accounts !== null && !isNamed) return listOfAccounts(db, tenantId, accounts, filter);
  // Else MariaDB and MySQL would read the whole tenant, from its newest contact on, for a page in the middle, and
  // SQLite for a phone.
  const hinted = dialect === 'mysql' ? '?? force index (??)' : '?? indexed by ??';
  const { addresses } = filter;
  const query = knex
    .from(
      addresses === undefined
        ? knex.raw(hinted, ['contacts', listIndex(filter)])
        : addressed(db, tenantId, addresses, hinted),
    )
    .where('tenant_id', tenantId)
    .where('created_at', '>', erasedAt)
    .whereRaw(notErased)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(filter.limit);
  if (filter.channel !== null) query.where('channel', filter.channel);
  if (filter.phone !== null) query.where('phone', filter.phone);
  if (filter.before !== null) olderThan(query, filter.before);
  if (accounts !== null) {
    const known = knex
      .select(knex.raw('1'))
      .from('threads')
      .whereIn('account_id', [...accounts]);
    query.whereExists(known.whereRaw('threads.contact_id = contacts.id'));
  }
  const rows: readonly ContactColumns[] = await query;
  return rows.map(contactFromColumns);
}

/** Reads the threads of each account: what a page costs does not grow with contacts of other accounts. */
async function listOfAccounts(
  db: Sql,
  tenantId: string,
  accounts: ReadonlySet<string>,
  { channel, before, limit }: ContactFilter,
): Promise<readonly Contact[]> {
  const { knex, dialect } = db;
  // In this order on both engines: else they may read the whole tenant.
  const join = dialect === 'mysql' ? 'straight_join' : 'cross join';
  const from = knex.raw(`threads t ${join} contacts on contacts.id = t.contact_id`);
  const pages = [...accounts].map((accountId) => {
    const query = knex.from(from).select('contacts.*').where('t.account_id', accountId);
    query.where('tenant_id', tenantId).whereRaw(notErased);
    if (before !== null) query.where('t.contact_id', '<', before.id);
    // Asked of the account first: one of another channel is not read.
    if (channel !== null) query.whereExists(knex('accounts').where({ id: accountId, channel }));
    return query.orderBy('t.contact_id', 'desc').limit(limit);
  });
  const rows: readonly ContactColumns[] = (await Promise.all(pages)).flat();
  const found = new Map(rows.map((row) => [row.id, row]));
  return [...found.values()]
    .sort((one, other) => (one.id < other.id ? 1 : -1))
    .slice(0, limit)
    .map(contactFromColumns);
}

/** The contacts whose phone or network id is one of these, as what a list is read from. */
function addressed(db: Sql, tenantId: string, addresses: readonly string[], hinted: string) {
  const { knex, dialect } = db;
  const having = (column: 'phone' | 'network_id') =>
    knex
      .select('id as named')
      .from(knex.raw(hinted, ['contacts', `contacts_tenant_id_${column}`]))
      .where('tenant_id', tenantId)
      .whereIn(column, addresses);
  const named = having('phone').union(having('network_id'));
  // In this order on both engines: else they may read the whole tenant.
  const join = dialect === 'mysql' ? 'straight_join' : 'cross join';
  return knex.raw(`(?) addressed ${join} contacts on contacts.id = addressed.named`, [named]);
}
