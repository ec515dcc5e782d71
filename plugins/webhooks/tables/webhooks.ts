import type { EventType } from '../../../core/contracts/events.ts';
import { placeholders, type Row, type Sql } from '../../../core/contracts/sql.ts';
import type { Tenant, TenantRow } from '../../tenants/contract.ts';

/** One subscription. */
export interface Webhook {
  /** `wh_…` */
  readonly id: string;
  readonly tenantId: string;
  /** Unique in its tenant. */
  readonly name: string;
  readonly url: string;
  /** The receiver of this tenant and URL, see `receiverId`. */
  readonly receiverId: string;
  readonly subscribedTo: readonly EventType[];
  readonly retriesEnabled: boolean;
  readonly enabled: boolean;
  /** Sealed; null while signing is off. */
  readonly sealedSecret: string | null;
  readonly secretCreatedAt: number | null;
  readonly createdAt: number;
}

/** One subscription, with what its receiver is like. */
export interface Subscription extends Webhook {
  /** Since when the receiver is paused; null while it is not, or is not there. */
  readonly pausedAt: number | null;
}

/** What the events of some tenants are fanned out by. */
export interface SubscriptionSnapshot {
  /** Oldest first. */
  readonly webhooks: readonly Subscription[];
  readonly tenants: ReadonlyMap<string, Tenant>;
}

interface WebhookColumns {
  readonly id: string;
  readonly tenant_id: string;
  readonly name: string;
  readonly url: string;
  readonly receiver_id: string;
  readonly subscribed_to: string;
  readonly retries_enabled: number;
  readonly enabled: number;
  readonly secret: string | null;
  readonly secret_created_at: number | null;
  readonly created_at: number;
}

/** A tenant with one of its subscriptions, or with nulls for them. */
type SubscriptionColumns = (WebhookColumns | { readonly id: null }) &
  Omit<TenantRow, 'id' | 'name' | 'created_at'> & {
    readonly paused_at: number | null;
    readonly tenant: string;
    readonly tenant_name: string;
    readonly tenant_created_at: number;
  };

/** The signing secret of one subscription. */
export interface SealedSecret {
  readonly id: string;
  readonly tenantId: string;
  readonly sealed: string;
}

/** Makes a tenant of its row, as the tenants' own table does. */
export type TenantOf = (row: TenantRow) => Tenant;

/** The SQL of webhook subscriptions. */
export class WebhookTable {
  protected readonly db: Sql;
  readonly #tenantOf: TenantOf;

  constructor(db: Sql, tenantOf: TenantOf) {
    this.db = db;
    this.#tenantOf = tenantOf;
  }

  /** A tenant's subscriptions, oldest first. */
  async list(tenantId: string): Promise<readonly Webhook[]> {
    const rows: readonly WebhookColumns[] = await this.db
      .knex('webhooks')
      .where('tenant_id', tenantId)
      .orderBy([{ column: 'created_at' }, { column: 'id' }]);
    return rows.map(webhook);
  }

  /** The tenant's subscription with this id or, if there is none, with exactly this name. */
  async find(tenantId: string, idOrName: string): Promise<Webhook | null> {
    const rows: readonly WebhookColumns[] = await this.db
      .knex('webhooks')
      .where('tenant_id', tenantId)
      .andWhere((either) => either.where('id', idOrName).orWhere('name', idOrName));
    const found = rows.find((row) => row.id === idOrName) ?? rows[0];
    return found === undefined ? null : webhook(found);
  }

  /** Those of these ids that there are. */
  async byIds(ids: readonly string[]): Promise<readonly Webhook[]> {
    if (ids.length === 0) return [];
    const rows: readonly WebhookColumns[] = await this.db
      .knex('webhooks')
      .whereIn('id', [...new Set(ids)]);
    return rows.map(webhook);
  }

  /** The subscriptions with these receivers. */
  async ofReceivers(receiverIds: readonly string[]): Promise<readonly Webhook[]> {
    if (receiverIds.length === 0) return [];
    const rows = await this.db.rows<WebhookColumns>(
      `select * from webhooks where receiver_id in (${placeholders(receiverIds.length)})`,
      receiverIds,
    );
    return rows.map(webhook);
  }

  /** The subscriptions of these tenants, oldest first. */
  async ofTenants(tenantIds: readonly string[]): Promise<readonly Webhook[]> {
    const wanted = [...new Set(tenantIds)];
    if (wanted.length === 0) return [];
    const rows = await this.db.rows<WebhookColumns>(
      `select * from webhooks where tenant_id in (${placeholders(wanted.length)}) order by created_at, id`,
      wanted,
    );
    return rows.map(webhook);
  }

  /** What the events of these tenants are fanned out by, in one statement: it is read with every message that is sent. */
  async subscriptionsOf(tenantIds: readonly string[]): Promise<SubscriptionSnapshot> {
    const wanted = [...new Set(tenantIds)];
    if (wanted.length === 0) return { webhooks: [], tenants: new Map() };
    const rows = await this.db.rows<SubscriptionColumns>(
      `select w.*, r.disabled_at as paused_at, t.id as tenant, t.name as tenant_name, t.mode, t.plan,
         t.status, t.disabled, t.ramp, t.created_at as tenant_created_at
       from tenants t left join webhooks w on w.tenant_id = t.id
       left join receivers r on r.id = w.receiver_id
       where t.id in (${placeholders(wanted.length)})`,
      wanted,
      { recurs: wanted.length === 1 },
    );
    // MariaDB would sort such wide rows in a table on disk, which takes it twice as long as all the rest of the read.
    const webhooks = rows
      .flatMap((row) => (isSubscription(row) ? { ...webhook(row), pausedAt: row.paused_at } : []))
      .sort((one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1));
    const tenants = new Map<string, Tenant>();
    for (const row of rows)
      if (!tenants.has(row.tenant)) tenants.set(row.tenant, this.#tenantOf(tenantRow(row)));
    return { webhooks, tenants };
  }

  /** Those of these tenants that have subscriptions, whatever these want. */
  async subscribers(tenantIds: readonly string[]): Promise<ReadonlySet<string>> {
    const wanted = [...new Set(tenantIds)];
    if (wanted.length === 0) return new Set();
    const rows = await this.db.rows<{ tenant_id: string }>(
      `select distinct tenant_id from webhooks where tenant_id in (${placeholders(wanted.length)})`,
      wanted,
    );
    return new Set(rows.map((row) => row.tenant_id));
  }

  /** Stores new subscriptions. */
  async insert(webhooks: readonly Webhook[]): Promise<void> {
    await this.db.insert(
      'webhooks',
      webhooks.map((one) => ({
        ...changeable(one),
        tenant_id: one.tenantId,
        created_at: one.createdAt,
      })),
    );
  }

  /** Stores changed subscriptions over what they were. */
  async save(webhooks: readonly Webhook[]): Promise<void> {
    await this.db.updateEach('webhooks', 'id', webhooks.map(changeable));
  }

  /** At most so many sealed signing secrets of all tenants, after a subscription. */
  async sealedPage(afterId: string, limit: number): Promise<readonly SealedSecret[]> {
    return await this.db.rows<SealedSecret>(
      `select id, tenant_id as tenantId, secret as sealed from webhooks
       where id > ? and secret is not null order by id limit ?`,
      [afterId, limit],
    );
  }

  /** Puts a sealed signing secret in the place of another, if that is still there. */
  async replaceSecret(id: string, former: string, sealed: string): Promise<void> {
    await this.db.run(
      'update webhooks set secret = ? where id = ? and secret = ?',
      [sealed, id, former],
      { recurs: true },
    );
  }

  async delete(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.db.knex('webhooks').whereIn('id', ids).delete();
  }
}

function isSubscription(
  row: SubscriptionColumns,
): row is Extract<SubscriptionColumns, WebhookColumns> {
  return row.id !== null;
}

function tenantRow(row: SubscriptionColumns): TenantRow {
  const { tenant: id, tenant_name: name, tenant_created_at: created_at } = row;
  return { ...row, id, name, created_at };
}

function changeable(one: Webhook): Row {
  return {
    id: one.id,
    name: one.name,
    url: one.url,
    receiver_id: one.receiverId,
    subscribed_to: JSON.stringify(one.subscribedTo),
    retries_enabled: one.retriesEnabled ? 1 : 0,
    enabled: one.enabled ? 1 : 0,
    secret: one.sealedSecret,
    secret_created_at: one.secretCreatedAt,
  };
}

function webhook(row: WebhookColumns): Webhook {
  return {
    id: row.id,
    tenantId: row.tenant_id,
    name: row.name,
    url: row.url,
    receiverId: row.receiver_id,
    // Written by `save` above and by nobody else.
    subscribedTo: JSON.parse(row.subscribed_to) as EventType[],
    retriesEnabled: row.retries_enabled === 1,
    enabled: row.enabled === 1,
    sealedSecret: row.secret,
    secretCreatedAt: row.secret_created_at,
    createdAt: row.created_at,
  };
}
