import type { Row } from '../../core/contracts/sql.ts';
import type { Executor } from '../../plugins/storage/executor.ts';

/** Rows of one statement. */
const portion = 2_000;

/** A day before everything that a bench does, so that no window or cap counts it. */
export const longAgo = Date.now() - 3 * 24 * 3_600_000;

/** A tenant with its accounts, each of which has written to all the contacts before. */
export interface Crowd {
  readonly tenantId: string;
  readonly accounts: readonly string[];
  readonly contacts: readonly string[];
}

/** The id of the tenant that the first start has made. */
export async function testTenant(rows: Executor): Promise<string> {
  const [tenant] = await rows.rows<{ id: string }>("select id from tenants where mode = 'test'");
  if (tenant === undefined) throw new Error('there is no test tenant');
  return tenant.id;
}

/**
 * Puts accounts and contacts into the tables past the gateway: linked but without a session, and long past their
 * warm-up, so that only the guards and caps of today count.
 * @param write an executor that may write
 */
export async function seedCrowd(
  write: Executor,
  tenantId: string,
  counts: { readonly accounts: number; readonly contacts: number },
): Promise<Crowd> {
  const accounts = ids('acc', counts.accounts);
  await insert(write, 'accounts', counts.accounts, (n) =>
    accountRow(tenantId, idOf(accounts, n), n),
  );
  const contacts = await seedContacts(write, tenantId, accounts, counts.contacts);
  return { tenantId, accounts, contacts };
}

/**
 * Puts contacts into the tables that all of these accounts have written to before; answers their ids.
 * @param write an executor that may write
 */
export async function seedContacts(
  write: Executor,
  tenantId: string,
  accounts: readonly string[],
  count: number,
): Promise<readonly string[]> {
  const contacts = ids('con', count);
  await insert(write, 'contacts', count, (n) => contactRow(tenantId, idOf(contacts, n), n));
  await insert(write, 'threads', accounts.length * count, (n) => ({
    account_id: idOf(accounts, n % accounts.length),
    contact_id: idOf(contacts, Math.floor(n / accounts.length)),
    opened_at: longAgo,
    inbound_at: null,
  }));
  return contacts;
}

/** Inserts rows 0 to `count` - 1, some thousands in a statement. */
export async function insert(
  write: Executor,
  table: string,
  count: number,
  row: (n: number) => Row,
): Promise<void> {
  for (let start = 0; start < count; start += portion) {
    const length = Math.min(portion, count - start);
    await write.insert(
      table,
      Array.from({ length }, (_, n) => row(start + n)),
    );
  }
}

/** The number of the nth contact of a crowd. */
export function contactPhone(n: number): string {
  return `+1303${String(2_000_000 + n)}`;
}

/** The number of the nth account of a crowd. */
export function accountPhone(n: number): string {
  return `+1202${String(2_000_000 + n)}`;
}

/** The nth account of a tenant: linked, without a session, and long past its warm-up. */
export function accountRow(tenantId: string, id: string, n: number): Row {
  const identifier = accountPhone(n);
  return {
    id,
    tenant_id: tenantId,
    channel: 'msgapp_web',
    identifier,
    status: 'connecting',
    reason: null,
    linked: 1,
    connect_options: JSON.stringify({ method: 'qr', importContacts: false, importHistory: false }),
    announced: 1,
    ever_connected: 1,
    ramp_day_one: '2020-01-01',
    present_key: `${tenantId}|msgapp_web|${identifier}`,
    created_at: longAgo,
    connected_at: longAgo,
    status_since: longAgo,
  };
}

function contactRow(tenantId: string, id: string, n: number): Row {
  return {
    id,
    tenant_id: tenantId,
    channel: 'msgapp_web',
    phone: contactPhone(n),
    network_id: null,
    name: `Contact ${n}`,
    created_at: longAgo,
  };
}

function ids(prefix: string, count: number): readonly string[] {
  return Array.from(
    { length: count },
    (_, n) => `${prefix}_01J0000000${n.toString(36).toUpperCase().padStart(16, '0')}`,
  );
}

function idOf(list: readonly string[], n: number): string {
  const id = list[n];
  if (id === undefined) throw new Error('there is no such row');
  return id;
}
