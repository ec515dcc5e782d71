import type { Row } from '../../core/contracts/sql.ts';
import { idBound, newId } from '../../core/ids.ts';
import { Executor } from '../../plugins/storage/executor.ts';
import type { OpenStorage } from '../../plugins/storage/storage.ts';

/** Whose messages they are, and of when. */
export interface ManyMessages {
  readonly tenantId: string;
  readonly accountId: string;
  /** One after the other. */
  readonly contactIds: readonly string[];
  readonly count: number;
  readonly at: number;
  readonly text?: string;
  /** They wait to be sent, and no event tells of them; else they are read. */
  readonly queued?: boolean;
}

/** Stores outbound messages straight into the database, with their threads, and an event for every tenth. */
export async function storeMany(
  { connections, dialect }: OpenStorage,
  { tenantId, accountId, contactIds, count, at, text = 'long ago', queued = false }: ManyMessages,
): Promise<void> {
  const portion = 1_000;
  for (let start = 0; start < count; start += portion) {
    const rows: Row[] = [];
    for (let n = start; n < Math.min(count, start + portion); n += 1) {
      rows.push({
        // A new id would be of now.
        id: `${idBound('msg', at)}${accountId.slice(-4)}${String(n).padStart(12, '0')}`,
        tenant_id: tenantId,
        account_id: accountId,
        channel: 'msgapp_web',
        contact_id: contactIds[n % contactIds.length] ?? '',
        direction: 'outbound',
        text: `${text} ${n}`,
        ...(queued
          ? { status: 'queued', sequence: n + 1_000 }
          : { status: 'read', network_id: newId('evt') }),
        created_at: at,
      });
    }
    const events = rows
      .filter((_, n) => !queued && n % 10 === 0)
      .map((row) => ({
        id: newId('evt', at),
        tenant_id: tenantId,
        type: 'message.sent',
        subject: row.id ?? '',
        payload: JSON.stringify({ text: row.text }),
        state: 1,
        created_at: at,
      }));
    await connections.write.transaction(async (transaction) => {
      const db = new Executor(transaction, dialect);
      await db.insert('messages', rows);
      await db.insert('events', events);
      const threads = contactIds.map((id) => ({ account_id: accountId, contact_id: id }));
      if (start === 0) await db.insertIgnore('threads', threads);
    });
  }
}
