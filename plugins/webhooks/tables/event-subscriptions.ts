import { placeholders, type Sql } from '../../../core/contracts/sql.ts';
import { type Webhook, type WebhookColumns, webhookOf } from './webhook-rows.ts';

/** Why a subscription to MCP Events is over: its own time, or its key is revoked or has expired. */
export type OverReason = 'expired' | 'key';

/** A subscription that is over. */
export interface OverSubscription {
  readonly webhook: Webhook;
  readonly reason: OverReason;
}

/** The SQL of subscriptions to MCP Events, which are rows of `webhooks` with a key. */
export class EventSubscriptionTable {
  protected readonly db: Sql;

  constructor(db: Sql) {
    this.db = db;
  }

  /** The subscriptions that all keys of these tenants made. */
  async ofTenants(tenantIds: readonly string[]): Promise<readonly Webhook[]> {
    const wanted = [...new Set(tenantIds)];
    if (wanted.length === 0) return [];
    const rows = await this.db.rows<WebhookColumns>(
      `select * from webhooks where tenant_id in (${placeholders(wanted.length)}) and key_id is not null`,
      wanted,
    );
    return rows.map(webhookOf);
  }

  /** The subscriptions that these keys made. */
  async ofKeys(keyIds: readonly string[]): Promise<readonly Webhook[]> {
    const wanted = [...new Set(keyIds)];
    if (wanted.length === 0) return [];
    const rows = await this.db.rows<WebhookColumns>(
      `select * from webhooks where key_id in (${placeholders(wanted.length)})`,
      wanted,
    );
    return rows.map(webhookOf);
  }

  /**
   * Subscriptions that are over, by the database's clock.
   * @param among the only ids of interest; null for all
   */
  async over(among: readonly string[] | null, limit: number): Promise<readonly OverSubscription[]> {
    if (among?.length === 0) return [];
    const { clock } = this.db;
    const ids = among === null ? '' : `and w.id in (${placeholders(among.length)})`;
    const isKeyless = `(k.id is null or k.revoked_at is not null or k.expires_at <= ${clock})`;
    const rows = await this.db.rows<WebhookColumns & { readonly keyless: number }>(
      `select w.*, case when ${isKeyless} then 1 else 0 end as keyless
       from webhooks w left join api_keys k on k.id = w.key_id
       where w.expires_at is not null and (w.expires_at <= ${clock} or ${isKeyless}) ${ids}
       limit ?`,
      [...(among ?? []), limit],
    );
    return rows.map(({ keyless, ...row }) => {
      return { webhook: webhookOf(row), reason: keyless === 1 ? 'key' : 'expired' };
    });
  }
}
