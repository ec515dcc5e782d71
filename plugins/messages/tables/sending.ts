import { longestAddress } from '../../../core/contact-address.ts';
import { placeholders, SqlTable, type Value } from '../../../core/contracts/sql.ts';
import {
  type CandidateColumns,
  candidate,
  counterJoins,
  type SendingAccount,
  type SendingColumns,
  type SendReference,
  type SendSnapshot,
  sendingColumns,
  snapshotOf,
} from './sending-rows.ts';

/** From how many live messages within how many milliseconds on a contact is busy; never with a count of 0. */
export interface BusyThreshold {
  readonly messages: number;
  readonly windowMs: number;
}

/** The form of our ids and of phone numbers. No other can be found, and not every text fits the list of names. */
const fit = /^[!-~]{1,60}$/;

/** True of a contact that is not erased: what is left of an erased one has no address. */
const notErased = '(c.phone is not null or c.network_id is not null)';

/** What a contact is found by. */
type LookupColumn = 'id' | 'phone' | 'network_id';

/** The contact, by id, number or address, and the account of a send; null where the send names none, or none can be. */
interface ContactLookup {
  readonly tenantId: string;
  readonly value: string | null;
  readonly accountId: string | null;
}

/** Parts of a select that finds the tenant `t`, account `a` and contact `c` of each look-up, with their values. */
interface LookupSql {
  readonly from: string;
  /** Expression for the alias that was named; the text `null` where contacts are not found by id. */
  readonly alias: string;
  readonly where: string;
  readonly inFrom: readonly Value[];
  readonly inWhere: readonly Value[];
}

/** The SQL that finds, in one statement, the tenant, account and contact that a send names, with today's counters. */
export class SendingTable extends SqlTable {
  /**
   * What there is to know of each reference: one entry, or several where a phone is a contact on several channels and no
   * account says which of them is meant; none without the tenant. The caller has locked the tenants.
   * @param day of the counters
   */
  async snapshots(
    references: readonly SendReference[],
    busy: BusyThreshold,
    day: string,
  ): Promise<readonly SendSnapshot[]> {
    const byId = references.filter(({ contactId }) => contactId !== null);
    const others = references.filter(({ contactId }) => contactId === null);
    const byPhone = others.filter(({ addresses }) => !addresses);
    const byAddress = others.filter(({ addresses }) => addresses).flatMap(addressLookups);
    const rows = await Promise.all([
      this.#lookUp(
        byId.map(lookupBy(({ contactId }) => storableOrNull(contactId))),
        'id',
        busy,
        day,
      ),
      this.#lookUp(byPhone.map(lookupBy(({ phone }) => storableOrNull(phone))), 'phone', busy, day),
      this.#lookUp(byAddress, 'network_id', busy, day),
    ]);
    return rows.flat().map(snapshotOf);
  }

  /**
   * What a send may choose from: not removed and `connected`, `connecting` or `restricted`. The caller has locked the
   * tenants.
   */
  candidates(tenantIds: readonly string[]): Promise<readonly SendingAccount[]> {
    return this.#accounts(tenantIds, "in ('connected', 'connecting', 'restricted')");
  }

  /** What no send may choose, for the refusal that names the only account there is. */
  disconnected(tenantIds: readonly string[]): Promise<readonly SendingAccount[]> {
    return this.#accounts(tenantIds, "= 'disconnected'");
  }

  async #accounts(
    tenantIds: readonly string[],
    status: string,
  ): Promise<readonly SendingAccount[]> {
    if (tenantIds.length === 0) return [];
    const rows = await this.db.rows<CandidateColumns>(
      `select id, tenant_id, channel, status, linked, restricted_until, ramp_day_one,
         outbound_sequence
       from accounts where removed_at is null and tenant_id in (${placeholders(tenantIds.length)})
         and status ${status}`,
      tenantIds,
    );
    return rows.map(candidate);
  }

  async #lookUp(
    lookups: readonly ContactLookup[],
    column: LookupColumn,
    { messages, windowMs }: BusyThreshold,
    day: string,
  ): Promise<readonly SendingColumns[]> {
    const distinct = new Map(lookups.map((lookup) => [Object.values(lookup).join(' '), lookup]));
    const [first, ...others] = distinct.values();
    if (first === undefined) return [];
    const { from, alias, where, inFrom, inWhere } =
      others.length === 0
        ? this.#oneLookup(first, column)
        : this.#manyLookups([first, ...others], column);
    return this.db.rows<SendingColumns>(
      `select ${this.#inThisOrder} ${sendingColumns},
         ${alias} as alias, ${messages === 0 ? '0' : this.#busy(messages)} as busy
       from ${from}
       left join threads h on h.account_id = a.id and h.contact_id = c.id
       ${counterJoins} ${where}`,
      [...(messages === 0 ? [] : [windowMs]), ...inFrom, day, day, ...inWhere],
      { recurs: true },
    );
  }

  get #inThisOrder(): string {
    return this.db.dialect === 'mysql' ? 'straight_join' : '';
  }

  /** One look-up by itself: both engines find each row by a whole key and plan nothing. */
  #oneLookup({ tenantId, value, accountId }: ContactLookup, column: LookupColumn): LookupSql {
    const isKey = column === 'id' || accountId !== null;
    const ofChannel = isKey ? 'and c.channel = a.channel' : '';
    const index = `contacts_tenant_id_${isKey ? 'channel_' : ''}${column}`;
    const contact =
      column !== 'id'
        ? `left join contacts c ${this.#forceIndex(index)} on c.tenant_id = t.id ${ofChannel} and c.${column} = ?`
        : `left join contact_aliases x on x.id = ?
       left join contacts c on c.tenant_id = t.id and c.id = coalesce(x.contact_id, ?)
         and ${notErased}`;
    return {
      from: `tenants t
       left join accounts a on a.id = ? and a.tenant_id = t.id and a.removed_at is null
       ${contact}`,
      alias: column === 'id' ? 'x.id' : 'null',
      where: 'where t.id = ?',
      inFrom: [accountId, ...(column === 'id' ? [value, value] : [value])],
      inWhere: [tenantId],
    };
  }

  #manyLookups(lookups: readonly ContactLookup[], column: LookupColumn): LookupSql {
    const [list, cross] =
      this.db.dialect === 'mysql' ? [mysqlNames(column), ''] : [sqliteNames, 'cross'];
    // Forced on both engines: else they read the tenant.
    const contact =
      column !== 'id'
        ? `left join contacts c ${this.#forceIndex(`contacts_tenant_id_${column}`)}
         on c.tenant_id = t.id and c.${column} = names.name`
        : `left join contact_aliases x on x.id = names.name
       left join contacts c on c.tenant_id = t.id and c.id = coalesce(x.contact_id, names.name)
         and ${notErased}`;
    return {
      from: `${list} names
       ${cross} join tenants t on t.id = names.tenant
       left join accounts a on a.id = names.account and a.tenant_id = t.id and a.removed_at is null
       ${contact}`,
      alias: column === 'id' ? 'x.id' : 'null',
      where: '',
      inFrom: [
        JSON.stringify(
          lookups.map(({ tenantId, value, accountId }) => [tenantId, value, accountId]),
        ),
      ],
      inWhere: [],
    };
  }

  /** Whether the contact's message that would make it busy is young enough. */
  #busy(messages: number): string {
    const index = 'messages_contact_id_direction_created_at';
    return `(select m.created_at from messages m ${this.#forceIndex(index)}
       where m.contact_id = c.id and m.direction = 'inbound' and m.created_at > ${this.db.clock} - ?
         and m.inbound_sequence is not null
       order by m.created_at desc limit 1 offset ${Math.trunc(messages - 1)}) is not null`;
  }

  #forceIndex(index: string): string {
    return this.db.dialect === 'mysql' ? `force index (${index})` : `indexed by ${index}`;
  }
}

/** A column of texts of ours: as ASCII, which every collation can be compared with. */
const ascii = 'varchar(60) character set ascii collate ascii_bin';
/** A column of a network's texts: where it meets a column that compares by bytes, the bytes decide. */
const anyText = `varchar(${longestAddress}) character set utf8mb4 collate utf8mb4_general_ci`;

/** Expression of a table with a row for each look-up, which its one value holds as JSON. */
function mysqlNames(column: LookupColumn): string {
  const types = [ascii, column === 'network_id' ? anyText : ascii, ascii];
  const columns = ['tenant', 'name', 'account'].map(
    (name, n) => `${name} ${types[n]} path '$[${n}]'`,
  );
  return `json_table(?, '$[*]' columns (${columns.join(', ')}))`;
}
const sqliteNames = `(select value ->> 0 as tenant, value ->> 1 as name, value ->> 2 as account
  from json_each(?))`;

function storableOrNull(text: string | null): string | null {
  return text !== null && fit.test(text) ? text : null;
}

/** Makes a function from a reference to its look-up, by the text that `textOf` takes from the reference. */
function lookupBy(
  textOf: (reference: SendReference) => string | null,
): (reference: SendReference) => ContactLookup {
  return (reference) => ({
    tenantId: reference.tenantId,
    value: textOf(reference),
    accountId: storableOrNull(reference.accountId),
  });
}

/** Look-ups of a reference, one for each address; without an address, one that finds nothing. */
function addressLookups(reference: SendReference): readonly ContactLookup[] {
  const addresses = new Set(reference.addresses?.values());
  return (addresses.size === 0 ? [null] : [...addresses]).map((address) =>
    lookupBy(() => address)(reference),
  );
}
