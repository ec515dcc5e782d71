import { placeholders, SqlTable } from '../../../core/contracts/sql.ts';
import { type Webhook, type WebhookColumns, webhookOf } from './webhook-rows.ts';

/** Why a subscription to MCP Events is over: its own time, or its key is revoked or has expired. */
export type OverReason = 'expired' | 'key';

/** A subscription that is over. */
export interface OverSubscription {
  readonly webhook: Webhook;
  readonly reason: OverReason;
}

/** The SQL of subscriptions to MCP Events, which are rows of `webhooks` with a key. */
export class EventSubscriptionTable extends SqlTable {
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

  /** Subscriptions whose own time is over, by the database's clock. */
  async expired(limit: number): Promise<readonly Webhook[]> {
    const rows = await this.db.rows<WebhookColumns>(
      `select * from webhooks where expires_at <= ${this.db.clock} limit ?`,
      [limit],
    );
    return rows.map(webhookOf);
  }

  /**
   * Subscriptions whose key is revoked or has expired, and whose own time is not over. It goes by the keys that have any,
   * which are few beside all subscriptions, and beside the keys that were ever revoked.
   */
  async keyless(limit: number): Promise<readonly Webhook[]> {
    const { clock } = this.db;
    const rows = await this.db.rows<WebhookColumns>(
      `select w.* from (select distinct key_id from webhooks where key_id is not null) as subscribed
       left join api_keys k on k.id = subscribed.key_id
       join webhooks w on w.key_id = subscribed.key_id
       where ${this.#isKeyless} and w.expires_at > ${clock} limit ?`,
      [limit],
    );
    return rows.map(webhookOf);
  }

  /** Which of these subscriptions are over, by the database's clock. */
  async over(ids: readonly string[]): Promise<readonly OverSubscription[]> {
    if (ids.length === 0) return [];
    const { clock } = this.db;
    const rows = await this.db.rows<WebhookColumns & { readonly keyless: number }>(
      `select w.*, case when ${this.#isKeyless} then 1 else 0 end as keyless
       from webhooks w left join api_keys k on k.id = w.key_id
       where w.id in (${placeholders(ids.length)}) and w.expires_at is not null
       and (w.expires_at <= ${clock} or ${this.#isKeyless})`,
      ids,
    );
    return rows.map(({ keyless, ...row }) => {
      return { webhook: webhookOf(row), reason: keyless === 1 ? 'key' : 'expired' };
    });
  }

  /** Whether the key `k` of a subscription is not valid any more. */
  get #isKeyless(): string {
    return `(k.id is null or k.revoked_at is not null or k.expires_at <= ${this.db.clock})`;
  }
}
