import { chunks } from '../../../core/chunks.ts';
import { SqlTable } from '../../../core/contracts/sql.ts';
import type { Merges } from '../../contacts/contract.ts';
import type { KeptMedia, MediaLocation, MediaOwner, StoredFile } from '../contract.ts';

/** States of a row, which exists before its file: waiting for the message, kept with it, or given up for deletion. */
const waiting = 0;
const kept = 1;
const givenUp = 2;

/** Rows of one statement. */
const pageSize = 1_000;

interface MediaColumns {
  readonly id: string;
  readonly tenant_id: string;
  readonly message_id: string | null;
  readonly mime_type: string | null;
  readonly file_name: string | null;
  readonly size: number | null;
  readonly state: number;
  readonly created_at: number;
}

/** Ages at which files are given up. Milliseconds since the Unix epoch. */
export interface MediaAge {
  /** Waiting files older than this. */
  readonly waitingBefore: number;
  /** Kept files older than this. */
  readonly keptBefore: number;
}

/** Position among files, which are in the order of their age. */
export type MediaPosition = readonly [createdAt: number, key: string];

/** Position before all files. */
export const firstMedia: MediaPosition = [0, ''];

/** Files that are to be deleted, and the position behind them; none: these are the last. */
export interface GivenUpPage {
  readonly files: readonly MediaLocation[];
  readonly next: MediaPosition | undefined;
}

/** The SQL of stored media. */
export class MediaTable extends SqlTable {
  /** Announces files that are about to be stored; repeatable. */
  async announce(locations: readonly MediaLocation[], at: number): Promise<void> {
    await this.db.insertIgnore(
      'media_files',
      locations.map(({ key, tenantId }) => ({
        id: key,
        tenant_id: tenantId,
        state: waiting,
        created_at: at,
      })),
    );
  }

  /** Keys of files that still wait for their message, locked until the transaction ends. */
  async waitingForChange(keys: readonly string[]): Promise<ReadonlySet<string>> {
    if (keys.length === 0) return new Set();
    const query = this.db
      .knex('media_files')
      .whereIn('id', [...keys])
      .where('state', waiting);
    if (this.db.dialect === 'mysql') query.forUpdate();
    const rows: readonly MediaColumns[] = await query;
    return new Set(rows.map((row) => row.id));
  }

  /** Keeps files with their messages: files that `waitingForChange` returned in the same transaction. */
  async keep(files: readonly KeptMedia[]): Promise<void> {
    await this.db.updateEach(
      'media_files',
      'id',
      files.map((file) => ({
        id: file.key,
        message_id: file.messageId,
        contact_id: file.contactId,
        mime_type: file.mimeType,
        file_name: file.fileName,
        size: file.size,
        state: kept,
      })),
    );
  }

  /** Keys that have a row, in whatever state. */
  async announced(keys: readonly string[]): Promise<ReadonlySet<string>> {
    const found: readonly string[] = await this.db
      .knex('media_files')
      .whereIn('id', [...keys])
      .pluck('id');
    return new Set(found);
  }

  /** A file that is kept, or null; also null once its tenant is deleted, whose files take their time to go. */
  async find(key: string): Promise<StoredFile | null> {
    const [row] = await this.db.rows<MediaColumns>(
      `select f.* from media_files f where f.id = ? and f.state = ${kept}
         and not exists (select 1 from tenants where id = f.tenant_id and status = 'deleted')`,
      [key],
    );
    if (row === undefined) return null;
    return {
      key: row.id,
      tenantId: row.tenant_id,
      mimeType: row.mime_type ?? 'application/octet-stream',
      fileName: row.file_name ?? row.id,
      size: row.size ?? 0,
    };
  }

  /** Gives up files that wait for a message that will not come, also where the row is gone with its tenant. */
  async giveUpWaiting(locations: readonly MediaLocation[], at: number): Promise<void> {
    await this.announce(locations, at);
    await this.db
      .knex('media_files')
      .whereIn(
        'id',
        locations.map(({ key }) => key),
      )
      .where('state', waiting)
      .update({ state: givenUp });
  }

  /** Moves the files of contacts to those that replace them, as their messages. */
  async moveContacts(merges: Merges): Promise<void> {
    const gone = [...merges.keys()];
    for (;;) {
      const some: readonly { readonly id: string; readonly contact_id: string }[] = await this.db
        .knex('media_files')
        .select('id', 'contact_id')
        .whereIn('contact_id', gone)
        .limit(pageSize);
      const rows = some.map(({ id, contact_id }) => ({
        id,
        contact_id: merges.get(contact_id) ?? null,
      }));
      await this.db.updateEach('media_files', 'id', rows);
      if (some.length < pageSize) return;
    }
  }

  /** Gives up the files of messages that are deleted. */
  async giveUpOf(messageIds: readonly string[]): Promise<void> {
    for (const some of chunks(messageIds, pageSize)) {
      await this.db.knex('media_files').whereIn('message_id', some).update({ state: givenUp });
    }
  }

  /** Gives up what waits for messages of a tenant that is deleted. */
  async giveUpOfTenant(tenantId: string): Promise<void> {
    await this.db
      .knex('media_files')
      .where({ tenant_id: tenantId, state: waiting })
      .update({ state: givenUp });
  }

  /** Gives up old files, a bounded number; answers how many, and the messages that had them. */
  async giveUpOld(
    { waitingBefore, keptBefore }: MediaAge,
    limit: number,
  ): Promise<{ readonly count: number; readonly messageIds: readonly string[] }> {
    const { knex, dialect } = this.db;
    const old: MediaColumns[] = [];
    for (const [state, before] of [
      [waiting, waitingBefore],
      [kept, keptBefore],
    ] as const) {
      const query = knex('media_files')
        .where({ state })
        .where('created_at', '<', before)
        .orderBy('created_at')
        .limit(limit);
      if (dialect === 'mysql') query.forUpdate().skipLocked();
      old.push(...(await query));
    }
    if (old.length > 0) {
      const ids = old.map((row) => row.id);
      await knex('media_files').whereIn('id', ids).update({ state: givenUp });
    }
    return { count: old.length, messageIds: old.flatMap((row) => row.message_id ?? []) };
  }

  /**
   * Files that are to be deleted, a bounded number of those behind a position.
   * @param owner null: of all tenants
   */
  async givenUp(
    owner: MediaOwner | null,
    [createdAt, key]: MediaPosition,
    limit: number,
  ): Promise<GivenUpPage> {
    const [ofOwner, values] = whose(owner);
    const rows = await this.db.rows<Pick<MediaColumns, 'id' | 'tenant_id' | 'created_at'>>(
      `select id, tenant_id, created_at from media_files
       where state = ${givenUp} and created_at >= ? and (created_at > ? or id > ?) ${ofOwner}
       order by created_at, id limit ${limit}`,
      [createdAt, createdAt, key, ...values],
    );
    const last = rows.at(-1);
    return {
      files: rows.map((row) => ({ key: row.id, tenantId: row.tenant_id })),
      next: last === undefined ? undefined : [last.created_at, last.id],
    };
  }

  /** Deletes the rows of files that were given up and are deleted. */
  async delete(keys: readonly string[]): Promise<void> {
    await this.db
      .knex('media_files')
      .whereIn('id', [...keys])
      .where('state', givenUp)
      .delete();
  }
}

function whose(owner: MediaOwner | null): readonly [condition: string, values: readonly string[]] {
  if (owner === null) return ['', []];
  const { tenantId, contactId } = owner;
  return contactId === null
    ? ['and tenant_id = ?', [tenantId]]
    : ['and contact_id = ?', [contactId]];
}
