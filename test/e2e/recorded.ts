import type { Executor } from '../../plugins/storage/executor.ts';

/** The tenant that an account belongs to. */
export async function tenantOf(rows: Executor, accountId: string): Promise<string> {
  const sql = 'select tenant_id from accounts where id = ?';
  const [row] = await rows.rows<{ tenant_id: string }>(sql, [accountId]);
  if (row === undefined) throw new Error(`there is no account ${accountId}`);
  return row.tenant_id;
}

/** An event as the outbox holds it. */
export interface RecordedEvent {
  readonly type: string;
  /** The message or account that it is about. */
  readonly subject: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** The events recorded for a tenant, in the order of their time. */
export async function recordedEvents(
  rows: Executor,
  tenantId: string,
  subject?: string,
): Promise<readonly RecordedEvent[]> {
  const found = await rows.rows<{ type: string; subject: string; payload: string }>(
    'select type, subject, payload from events where tenant_id = ? order by created_at, id',
    [tenantId],
  );
  return found
    .filter((event) => subject === undefined || event.subject === subject)
    .map((event) => ({ ...event, payload: JSON.parse(event.payload) }));
}

/** An account event in one line: `account.disconnected disconnected logged_out`. */
export async function accountEvents(
  rows: Executor,
  tenantId: string,
  accountId: string,
): Promise<readonly string[]> {
  const events = await recordedEvents(rows, tenantId, accountId);
  return events.map(({ type, payload }) => {
    const { status, reason } = payload.account as { status: string; reason: string | null };
    return `${type} ${status} ${reason}`;
  });
}

const tables = [
  'accounts',
  'contacts',
  'messages',
  'usage_counters',
  'idempotency_keys',
  'events',
  'limit_notices',
  'webhooks',
  'receivers',
  'deliveries',
];

/** Everything that is stored for a tenant, table by table, but for the waits that are open just now. */
export async function storedOf(
  rows: Executor,
  tenantId: string,
): Promise<Readonly<Record<string, readonly string[]>>> {
  const stored: Record<string, readonly string[]> = {};
  for (const table of tables) {
    const found = await rows.rows<object>('select * from ?? where tenant_id = ?', [
      table,
      tenantId,
    ]);
    // Events are fanned out whenever their turn comes.
    const passing = table === 'events' ? { state: null } : {};
    stored[table] = found.map((row) => JSON.stringify({ ...row, ...passing })).sort();
  }
  const threads = await rows.rows<object>(
    'select * from threads where account_id in (select id from accounts where tenant_id = ?)',
    [tenantId],
  );
  return { ...stored, threads: threads.map((row) => JSON.stringify(row)).sort() };
}
