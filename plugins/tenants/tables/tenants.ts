import { placeholders, type Row, SqlTable } from '../../../core/contracts/sql.ts';
import type { Tenant, TenantMode, TenantRow, TenantStatus } from '../contract.ts';

/** The changeable fields of a tenant; an absent one stays. */
export interface TenantChanges {
  readonly plan?: string;
  readonly status?: TenantStatus;
  readonly disabled?: readonly string[];
}

const columns = ['id', 'name', 'mode', 'plan', 'status', 'disabled', 'ramp', 'created_at'] as const;

/** The SQL of tenants. */
export class TenantTable extends SqlTable {
  /** Adds tenants with new ids. */
  async insert(tenants: readonly Tenant[]): Promise<void> {
    await this.db.insert(
      'tenants',
      tenants.map((tenant) => toRow(tenant, null)),
    );
  }

  /** Adds the first tenant of each mode where there is none yet; processes that start at once agree on one. */
  async insertFirst(tenants: readonly Tenant[]): Promise<void> {
    await this.db.insertIgnore(
      'tenants',
      tenants.map((tenant) => toRow(tenant, tenant.mode)),
    );
  }

  /** The tenants that the first start made, at most one of each mode. */
  async first(): Promise<readonly Tenant[]> {
    const rows: TenantRow[] = await this.db
      .knex('tenants')
      .select(columns)
      .whereNotNull('first_of');
    return rows.map(toTenant);
  }

  /** The tenants with these ids, by id; unknown ones are missing. */
  async find(ids: readonly string[]): Promise<ReadonlyMap<string, Tenant>> {
    const wanted = [...new Set(ids)];
    if (wanted.length === 0) return new Map();
    const rows = await this.db.rows<TenantRow>(
      `select ${columns.join(', ')} from tenants where id in (${placeholders(wanted.length)})`,
      wanted,
      { recurs: wanted.length === 1 },
    );
    return new Map(rows.map((row) => [row.id, toTenant(row)]));
  }

  /**
   * Which of these tenants are there and not deleted. To be asked under their locks before something is added to them: a
   * request may have been admitted before its tenant was deleted, and nobody would erase what it leaves.
   */
  async present(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const found = [...(await this.find(ids)).values()];
    return new Set(found.flatMap(({ id, status }) => (status === 'deleted' ? [] : [id])));
  }

  /** All tenants, oldest first; a deleted one until nothing is left of it. */
  async list(): Promise<readonly Tenant[]> {
    const { knex } = this.db;
    const rows: TenantRow[] = await knex('tenants')
      .select(columns)
      .whereNot('status', 'deleted')
      .orWhereIn('id', knex('erasures').select('id'))
      .orderBy([{ column: 'created_at' }, { column: 'id' }]);
    return rows.map(toTenant);
  }

  /** The names of plans that tenants have. */
  async plans(): Promise<readonly string[]> {
    const rows: readonly Pick<TenantRow, 'plan'>[] = await this.db
      .knex('tenants')
      .distinct('plan')
      .whereNot('status', 'deleted')
      .orderBy('plan');
    return rows.map(({ plan }) => plan);
  }

  /** Changes one tenant, whose row the caller has locked. */
  async change(id: string, changes: TenantChanges): Promise<void> {
    const set: Record<string, string> = {};
    if (changes.plan !== undefined) set.plan = changes.plan;
    if (changes.status !== undefined) set.status = changes.status;
    if (changes.disabled !== undefined) set.disabled = JSON.stringify([...changes.disabled].sort());
    if (Object.keys(set).length > 0) await this.db.knex('tenants').where({ id }).update(set);
  }

  /**
   * Takes what its name and plan were out of a deleted tenant. Its row stays: the first start does not make one anew in its
   * place, and no other ever has its id.
   */
  async forget(id: string): Promise<void> {
    await this.db.knex('tenants').where({ id, status: 'deleted' }).update({ name: '', plan: '' });
  }

  /** The number of each tenant's latest live inbound message, 0 before the first. */
  async inboundSequences(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const wanted = [...new Set(ids)];
    if (wanted.length === 0) return new Map();
    const rows = await this.db.rows<{ id: string; inbound_sequence: number }>(
      `select id, inbound_sequence from tenants where id in (${placeholders(wanted.length)})`,
      wanted,
      { recurs: wanted.length === 1 },
    );
    return new Map(rows.map((row) => [row.id, row.inbound_sequence]));
  }

  /** Leaves numbers out for all tenants, at least so many and all up to `reached`, so that none is given twice. */
  async advanceInboundSequences(step: number, reached: number): Promise<void> {
    const greatest = this.db.dialect === 'mysql' ? 'greatest' : 'max';
    const set = `inbound_sequence = ${greatest}(inbound_sequence + ?, ?)`;
    await this.db.run(`update tenants set ${set}`, [step, reached]);
  }

  /** Stores the numbers of the latest live inbound messages. The caller has locked the tenants' rows. */
  async setInboundSequences(latest: ReadonlyMap<string, number>): Promise<void> {
    await this.db.updateEach(
      'tenants',
      'id',
      [...latest].map(([id, inbound_sequence]) => ({ id, inbound_sequence })),
    );
  }
}

/** The record that a row holds. */
export function toTenant(row: TenantRow): Tenant {
  return {
    id: row.id,
    name: row.name,
    mode: row.mode,
    plan: row.plan,
    status: row.status,
    // Written by this file only, from a list of strings.
    disabled: JSON.parse(row.disabled) as string[],
    ramp: row.ramp === 1,
    createdAt: row.created_at,
  };
}

function toRow(tenant: Tenant, firstOf: TenantMode | null): Row {
  return {
    id: tenant.id,
    name: tenant.name,
    mode: tenant.mode,
    plan: tenant.plan,
    status: tenant.status,
    disabled: JSON.stringify([...tenant.disabled].sort()),
    ramp: tenant.ramp ? 1 : 0,
    inbound_sequence: 0,
    first_of: firstOf,
    created_at: tenant.createdAt,
  };
}
