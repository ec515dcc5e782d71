import { placeholders, type Sql, SqlTable } from '../../../core/contracts/sql.ts';
import type { Tenant, TenantRow } from '../../tenants/contract.ts';
import {
  changeableRow,
  isSubscription,
  type SealedSecret,
  type SecretColumn,
  type SubscriptionColumns,
  type SubscriptionSnapshot,
  tenantRow,
  type Webhook,
  type WebhookColumns,
  webhookOf,
} from './webhook-rows.ts';

/** Converts a row of `tenants`; the tenants plugin provides it. */
export type TenantOf = (row: TenantRow) => Tenant;

/** The SQL of subscriptions; those to MCP Events are found by `EventSubscriptionTable`, and by id. */
export class WebhookTable extends SqlTable {
  readonly #tenantOf: TenantOf;

  constructor(db: Sql, tenantOf: TenantOf) {
    super(db);
    this.#tenantOf = tenantOf;
  }

  /** A tenant's subscriptions, oldest first. */
  async list(tenantId: string): Promise<readonly Webhook[]> {
    const rows: readonly WebhookColumns[] = await this.db
      .knex('webhooks')
      .where('tenant_id', tenantId)
      .whereNull('key_id')
      .orderBy([{ column: 'created_at' }, { column: 'id' }]);
    return rows.map(webhookOf);
  }

  /** The tenant's subscription with this id or, if there is none, with exactly this name. */
  async find(tenantId: string, idOrName: string): Promise<Webhook | null> {
    const rows: readonly WebhookColumns[] = await this.db
      .knex('webhooks')
      .where('tenant_id', tenantId)
      .whereNull('key_id')
      .andWhere((either) => either.where('id', idOrName).orWhere('name', idOrName));
    const found = rows.find((row) => row.id === idOrName) ?? rows[0];
    return found === undefined ? null : webhookOf(found);
  }

  /** Subscriptions by id; ids without a row are skipped. */
  async byIds(ids: readonly string[]): Promise<readonly Webhook[]> {
    if (ids.length === 0) return [];
    const rows: readonly WebhookColumns[] = await this.db
      .knex('webhooks')
      .whereIn('id', [...new Set(ids)]);
    return rows.map(webhookOf);
  }

  /** The subscriptions with these receivers. */
  async ofReceivers(receiverIds: readonly string[]): Promise<readonly Webhook[]> {
    if (receiverIds.length === 0) return [];
    const rows = await this.db.rows<WebhookColumns>(
      `select * from webhooks where receiver_id in (${placeholders(receiverIds.length)})`,
      receiverIds,
    );
    return rows.map(webhookOf);
  }

  /** The subscriptions of these tenants, oldest first. */
  async ofTenants(tenantIds: readonly string[]): Promise<readonly Webhook[]> {
    const wanted = [...new Set(tenantIds)];
    if (wanted.length === 0) return [];
    const rows = await this.db.rows<WebhookColumns>(
      `select * from webhooks where tenant_id in (${placeholders(wanted.length)}) and key_id is null
       order by created_at, id`,
      wanted,
    );
    return rows.map(webhookOf);
  }

  /** Snapshot for the fan-out of these tenants' events. One statement, as every sent message reads it. */
  async subscriptionsOf(tenantIds: readonly string[]): Promise<SubscriptionSnapshot> {
    const wanted = [...new Set(tenantIds)];
    if (wanted.length === 0) return { webhooks: [], tenants: new Map() };
    const rows = await this.db.rows<SubscriptionColumns>(
      `select w.*, r.disabled_at as paused_at, r.owner as receiver_owner, t.id as tenant, t.name as tenant_name, t.mode, t.plan,
         t.status, t.disabled, t.ramp, t.created_at as tenant_created_at
       from tenants t left join webhooks w on w.tenant_id = t.id
       left join receivers r on r.id = w.receiver_id
       where t.id in (${placeholders(wanted.length)})`,
      wanted,
      { recurs: wanted.length === 1 },
    );
    // Sorted here: MariaDB sorts such wide rows on disk, which takes twice as long as the rest of the read.
    const webhooks = rows
      .flatMap((row) =>
        isSubscription(row)
          ? { ...webhookOf(row), pausedAt: row.paused_at, owner: row.receiver_owner }
          : [],
      )
      .sort((one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1));
    const tenants = new Map<string, Tenant>();
    for (const row of rows)
      if (!tenants.has(row.tenant)) tenants.set(row.tenant, this.#tenantOf(tenantRow(row)));
    return { webhooks, tenants };
  }

  /** Stores new subscriptions. */
  async insert(webhooks: readonly Webhook[]): Promise<void> {
    await this.db.insert(
      'webhooks',
      webhooks.map((one) => ({
        ...changeableRow(one),
        tenant_id: one.tenantId,
        created_at: one.createdAt,
      })),
    );
  }

  /** Stores changed subscriptions. */
  async save(webhooks: readonly Webhook[]): Promise<void> {
    await this.db.updateEach('webhooks', 'id', webhooks.map(changeableRow));
  }

  /** A page of the sealed signing secrets of all tenants in one column, by subscription id. */
  async sealedPage(
    column: SecretColumn,
    afterId: string,
    limit: number,
  ): Promise<readonly SealedSecret[]> {
    return await this.db.rows<SealedSecret>(
      `select id, tenant_id as tenantId, ${column} as sealed from webhooks
       where id > ? and ${column} is not null order by id limit ?`,
      [afterId, limit],
    );
  }

  /** Replaces a sealed signing secret if it is still the former one. */
  async replaceSecret(
    column: SecretColumn,
    id: string,
    former: string,
    sealed: string,
  ): Promise<void> {
    await this.db.run(
      `update webhooks set ${column} = ? where id = ? and ${column} = ?`,
      [sealed, id, former],
      { recurs: true },
    );
  }

  /** Deletes subscriptions, with their recoveries. */
  async delete(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.db.knex('webhooks').whereIn('id', ids).delete();
    await this.db.knex('recoveries').whereIn('webhook_id', ids).delete();
  }
}
