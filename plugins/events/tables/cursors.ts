import { SqlTable } from '../../../core/contracts/sql.ts';

/** The SQL of the cursors of subscriptions: up to where each has handled the feed of a tenant. */
export class EventCursorTable extends SqlTable {
  /** The tenants whose feed goes on behind the cursor of a subscription, or has events without a number. */
  async behind(subscription: string): Promise<readonly string[]> {
    const rows = await this.db.rows<{ id: string }>(
      `select t.id from tenants t
         left join event_feeds f on f.tenant_id = t.id
         left join event_cursors c on c.tenant_id = t.id and c.subscription = ?
       where coalesce(f.last, 0) > coalesce(c.sequence, 0)
         or exists (select 1 from events e where e.tenant_id = t.id and e.sequence is null)
       order by t.id`,
      [subscription],
      { recurs: true },
    );
    return rows.map(({ id }) => id);
  }

  /** The number of the last event that was handled; 0 before the first. */
  async find(subscription: string, tenantId: string): Promise<number> {
    const [row] = await this.db.rows<{ sequence: number }>(
      'select sequence from event_cursors where subscription = ? and tenant_id = ?',
      [subscription, tenantId],
      { recurs: true },
    );
    return row?.sequence ?? 0;
  }

  /** Makes a cursor before the first event, unless there is one. */
  async ensure(subscription: string, tenantId: string): Promise<void> {
    await this.db.insertIgnore('event_cursors', [{ subscription, tenant_id: tenantId }]);
  }

  /** Moves a cursor forward; false when it is there already, or further. */
  async pass(subscription: string, tenantId: string, sequence: number): Promise<boolean> {
    const moved = await this.db.run(
      `update event_cursors set sequence = ?
       where subscription = ? and tenant_id = ? and sequence < ?`,
      [sequence, subscription, tenantId, sequence],
      { recurs: true },
    );
    return moved === 1;
  }
}
