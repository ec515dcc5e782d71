import type { Addressee, Naming } from '../../messages/contract.ts';
import type { Executor } from '../executor.ts';

interface AddresseeColumns {
  readonly id: string;
  readonly tenant_id: string;
  readonly channel: string;
  readonly phone: string | null;
  readonly do_not_disturb: number;
  readonly private: number;
  readonly account_id: string | null;
  readonly opened_at: number | null;
  readonly inbound_at: number | null;
  readonly busy: number;
}

/** From how many live messages within how many milliseconds on a contact is busy; never with a count of 0. */
export interface Busy {
  readonly messages: number;
  readonly windowMs: number;
}

/** What an id or a number of ours looks like. Nothing else can be found, and not every text fits the list of names. */
const name = /^[!-~]{1,60}$/;

/** The SQL that finds whom sends go to: contact, thread and how busy it is in one statement. */
export class AddresseeTable {
  protected readonly db: Executor;

  constructor(db: Executor) {
    this.db = db;
  }

  /** Every contact that is named, with its thread with the account that is named beside it. */
  async find(namings: readonly Naming[], busy: Busy): Promise<readonly Addressee[]> {
    const byId: Naming[] = [];
    const byPhone: Naming[] = [];
    for (const naming of namings) (naming.contactId === null ? byPhone : byId).push(naming);
    const found = await Promise.all([
      this.#named(byId, ({ contactId }) => contactId, 'id', 'primary', busy),
      this.#named(byPhone, ({ phone }) => phone, 'phone', 'contacts_tenant_id_phone', busy),
    ]);
    return found.flat();
  }

  /** @param index which both engines are told: else they read the tenant */
  async #named(
    namings: readonly Naming[],
    nameOf: (naming: Naming) => string | null,
    column: 'id' | 'phone',
    index: string,
    busy: Busy,
  ): Promise<readonly Addressee[]> {
    const rows = new Map<string, readonly (string | null)[]>();
    for (const naming of namings) {
      const row = [naming.tenantId, nameOf(naming) ?? '', fitting(naming.accountId)];
      if (fitting(row[1] ?? null) !== null) rows.set(row.join(' '), row);
    }
    if (rows.size === 0) return [];
    const isMysql = this.db.dialect === 'mysql';
    const told = isMysql || index !== 'primary' ? this.#told(index) : '';
    const found = await this.db.rows<AddresseeColumns>(
      `select ${isMysql ? 'straight_join' : ''} c.id, c.tenant_id, c.channel, c.phone,
         c.do_not_disturb, c.private, t.account_id, t.opened_at, t.inbound_at,
         ${this.#busy(busy)} as busy
       from ${isMysql ? mysqlNames : sqliteNames} names
       ${isMysql ? '' : 'cross'} join contacts c ${told} on c.tenant_id = names.tenant and c.${column} = names.name
       left join threads t on t.account_id = names.account and t.contact_id = c.id`,
      [...this.#busyBindings(busy), JSON.stringify([...rows.values()])],
    );
    return found.map(fromColumns);
  }

  /** Whether the contact's message that would make it busy is young enough. */
  #busy({ messages }: Busy): string {
    if (messages === 0) return '0';
    const index = 'messages_contact_id_direction_created_at';
    return `(select m.created_at from messages m ${this.#told(index)}
       where m.contact_id = c.id and m.direction = 'inbound' and m.created_at > ${this.db.clock} - ?
         and m.inbound_sequence is not null
       order by m.created_at desc limit 1 offset ${Math.trunc(messages - 1)}) is not null`;
  }

  #busyBindings({ messages, windowMs }: Busy): readonly number[] {
    return messages === 0 ? [] : [windowMs];
  }

  #told(index: string): string {
    return this.db.dialect === 'mysql' ? `force index (${index})` : `indexed by ${index}`;
  }
}

/** The names as rows, for each engine. As ASCII, which every collation can be compared with. */
const mysqlNames = `json_table(?, '$[*]' columns (${['tenant', 'name', 'account']
  .map(
    (column, n) =>
      `${column} varchar(60) character set ascii collate ascii_bin path '$[${n}]' null on empty null on error`,
  )
  .join(', ')}))`;
const sqliteNames = `(select value ->> 0 as tenant, value ->> 1 as name, value ->> 2 as account
  from json_each(?))`;

function fitting(text: string | null): string | null {
  return text !== null && name.test(text) ? text : null;
}

function fromColumns(row: AddresseeColumns): Addressee {
  return {
    contact: {
      id: row.id,
      tenantId: row.tenant_id,
      channel: row.channel,
      phone: row.phone,
      doNotDisturb: row.do_not_disturb === 1,
      private: row.private === 1,
    },
    thread:
      row.account_id === null
        ? null
        : {
            accountId: row.account_id,
            contactId: row.id,
            openedAt: row.opened_at,
            inboundAt: row.inbound_at,
          },
    busy: row.busy === 1,
  };
}
