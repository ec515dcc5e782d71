import t, { type Test } from 'tap';
import { makeTables } from '../../../config/tables.ts';
import type { Row } from '../../../core/contracts/sql.ts';
import type { Tables } from '../../../core/contracts/storage.ts';
import { newId } from '../../../core/ids.ts';
import type { ListPosition } from '../../../core/list-position.ts';
import { contactTableSchema } from '../../../plugins/contacts/tables/schema.ts';
import { belongingsOf } from '../../../plugins/erasure/tables/belongings.ts';
import { firstOwner } from '../../../plugins/erasure/tables/tenant-rows.ts';
import type { DatabasePools } from '../../../plugins/storage/connection.ts';
import { Executor } from '../../../plugins/storage/executor.ts';
import { migratedStorage } from '../../fixtures/process.ts';
import { databases } from '../../harness/databases.ts';

const total = 100_000;
const start = Date.UTC(2026, 0, 1);
/** The clock of the reads: all messages are old by then but the last minute's. */
const now = start + total * 100;

/**
 * Four tenants of very unequal size, so that a plan that is good for the average is found out. The first has
 * most messages, nearly all outbound and from its first account.
 */
const tenants = ['ten_big', 'ten_mixed', 'ten_small', 'ten_queue'] as const;

const accountOf = (tenant: string, n: number): string => `acc_${tenant.slice(4)}_${n}`;
const contactOf = (tenant: string, n: number): string => `con_${tenant.slice(4)}_${n}`;
const keyOf = (tenant: string, n: number): string => `key ${n} of ${tenant}`;
const aliasOf = (tenant: string, n: number): string => `con_${tenant.slice(4)}_was_${n}`;

/** Deliveries in the log of one subscription. */
const logged = 5_000;
const deliveryOf = (n: number): string => `dlv_${String(n).padStart(5, '0')}`;

interface Placed {
  readonly tenant: (typeof tenants)[number];
  readonly account: number;
  readonly contact: number;
  readonly inbound: boolean;
  readonly queued: boolean;
}

function place(n: number): Placed {
  const contact = Math.floor(n / 100) % 500;
  if (n % 1_000 === 7)
    return { tenant: 'ten_small', account: 0, contact, inbound: n % 2_000 === 7, queued: false };
  if (n % 10 === 1)
    return { tenant: 'ten_queue', account: 0, contact, inbound: false, queued: true };
  if (n % 10 < 4)
    return { tenant: 'ten_mixed', account: n % 7, contact, inbound: n % 2 === 0, queued: false };
  const rare = n % 20_000 === 5;
  return { tenant: 'ten_big', account: rare ? 1 : 0, contact, inbound: rare, queued: false };
}

/** The rows of all messages, oldest first; `ids` get those that the reads name. */
function* messageRows(): Generator<Row> {
  const sequences = new Map<string, number>();
  const next = (key: string): number => {
    const value = (sequences.get(key) ?? 0) + 1;
    sequences.set(key, value);
    return value;
  };
  for (let n = 0; n < total; n += 1) {
    const { tenant, account, contact, inbound, queued } = place(n);
    const at = start + n * 100;
    const account_id = accountOf(tenant, account);
    yield {
      id: newId('msg', at),
      tenant_id: tenant,
      account_id,
      channel: 'msgapp_web',
      contact_id: contactOf(tenant, contact),
      direction: inbound ? 'inbound' : 'outbound',
      text: `message ${n}`,
      status: inbound ? 'received' : queued ? 'queued' : 'read',
      network_id: queued ? null : `network-${n}`,
      sequence: inbound ? null : next(account_id),
      inbound_sequence: inbound ? next(tenant) : null,
      created_at: at,
    };
  }
}

function rowsOf<Item>(items: readonly Item[], row: (item: Item) => Row): Row[] {
  return items.map(row);
}

async function fill(connections: DatabasePools): Promise<string[]> {
  const ids: string[] = [];
  await connections.write.transaction(async (transaction) => {
    const db = new Executor(transaction, connections.dialect);
    const numbers = Array.from({ length: 500 }, (_, n) => n);
    // Others, so that a table of tenants or accounts is not read whole because it is short.
    const others = numbers.map((n) => `ten_other_${n}`);
    await db.insert(
      'tenants',
      rowsOf([...tenants, ...others], (id) => ({
        id,
        name: id,
        mode: 'test',
        plan: 'growth',
        status: 'active',
        disabled: '[]',
        created_at: start,
      })),
    );
    for (const tenant of [...tenants, ...others]) {
      await db.insert(
        'accounts',
        rowsOf(numbers.slice(0, 10), (n) => ({
          id: accountOf(tenant, n),
          tenant_id: tenant,
          channel: 'msgapp_web',
          identifier: `+1202555${n}`,
          status: 'connected',
          connect_options: '{}',
          status_since: start,
          created_at: start,
        })),
      );
    }
    for (const tenant of tenants) {
      const many = tenant === 'ten_big' ? 10_000 : 500;
      await db.insert(
        'contacts',
        rowsOf(
          Array.from({ length: many }, (_, n) => n),
          (n) => ({
            id: contactOf(tenant, n),
            tenant_id: tenant,
            channel: 'msgapp_web',
            phone: `+1202${String(n).padStart(7, '0')}`,
            network_id: `network ${n}`,
            name: '',
            created_at: start + n,
          }),
        ),
      );
      await db.insert(
        'contact_aliases',
        rowsOf(numbers, (n) => ({
          id: aliasOf(tenant, n),
          contact_id: contactOf(tenant, n),
        })),
      );
      await db.insert(
        'threads',
        rowsOf(numbers, (n) => ({
          account_id: accountOf(tenant, 0),
          contact_id: contactOf(tenant, n),
          opened_at: now - n * 1_000,
        })),
      );
      await db.insert(
        'idempotency_keys',
        rowsOf(numbers, (n) => ({
          tenant_id: tenant,
          key_hash: keyOf(tenant, n),
          body_hash: '',
          answer: '{}',
          created_at: start + n,
        })),
      );
      await db.insert(
        'usage_counters',
        rowsOf(numbers, (n) => ({ tenant_id: tenant, day: `day ${n}`, sends: 1, new_contacts: 1 })),
      );
      await db.insert(
        'refusal_counters',
        rowsOf(numbers, (n) => ({
          ...{ tenant_id: tenant, day: `day ${n}`, code: 'loop_guard', refusals: 1 },
        })),
      );
      await db.insert(
        'limit_notices',
        rowsOf(numbers, (n) => ({ tenant_id: tenant, day: `day ${n}`, reason: 'daily_send_cap' })),
      );
    }
    await db.insert(
      'deliveries',
      rowsOf(
        Array.from({ length: logged }, (_, n) => n),
        (n) => ({
          id: deliveryOf(n),
          tenant_id: 'ten_big',
          webhook_id: 'wh_big',
          receiver_id: '',
          event_id: `evt_${n}`,
          event_type: 'message.sent',
          subject: '',
          state: n % 100 === 0 ? 'failed' : 'delivered',
          log: '[]',
          created_at: start + n,
        }),
      ),
    );
    // One tenant makes a key for each run of an agent; nearly all have expired or were deleted.
    await db.insert(
      'api_keys',
      rowsOf(
        Array.from({ length: logged }, (_, n) => n),
        (n) => ({
          id: `key_run_${n}`,
          tenant_id: n % 100 === 0 ? 'ten_small' : 'ten_big',
          hash: `hash of run ${n}`,
          hint: '',
          name: 'Agent',
          created_at: start + n,
          expires_at: n % 100 === 1 ? null : start + n,
          revoked_at: n % 2 === 0 ? start + n : null,
        }),
      ),
    );
    await db.insert('lease_holders', [
      { id: 'living', expires_at: now, lease_ms: 9_000 },
      { id: 'dead', expires_at: 0, lease_ms: 9_000 },
    ]);
    await db.insert(
      'receivers',
      rowsOf(
        Array.from({ length: 5_000 }, (_, n) => n),
        (n) => ({
          id: `receiver ${n}`,
          tenant_id: 'ten_big',
          url: '',
          updated_at: start,
          // Most are idle; many are due and worked at, few are free.
          due_at: n % 5 === 0 || n % 100 === 1 ? start + n : null,
          owner: n % 5 === 0 ? (n % 500 === 0 ? 'dead' : 'living') : null,
        }),
      ),
    );
    // Every second receiver has a subscription.
    await db.insert(
      'webhooks',
      Array.from({ length: 2_500 }, (_, n) => ({
        ...{ id: `wh_${n}`, tenant_id: 'ten_big', name: `hook ${n}`, url: '' },
        ...{ receiver_id: `receiver ${2 * n}`, subscribed_to: '[]', created_at: start },
      })),
    );
    // Ten keys have two hundred subscriptions to MCP Events each, and one of them was revoked.
    await db.insert(
      'api_keys',
      rowsOf(numbers, (n) => ({
        ...{ id: `key_${n}`, tenant_id: 'ten_mixed', hash: `hash ${n}`, hint: '' },
        ...{ created_at: start, revoked_at: n === 9 || n >= 10 ? start : null },
      })),
    );
    await db.insert(
      'webhooks',
      Array.from({ length: 2_000 }, (_, n) => ({
        ...{ id: `wh_sub_${n}`, tenant_id: 'ten_mixed', name: `wh_sub_${n}`, url: '' },
        ...{ receiver_id: '', subscribed_to: '[]', created_at: start, key_id: `key_${n % 10}` },
        expires_at: n < 10 ? start : Date.UTC(2200, 0, 1),
      })),
    );
    // Files that nobody can delete, of half of the contacts; three of one tenant.
    await db.insert(
      'media_files',
      Array.from({ length: 5_000 }, (_, n) => ({
        ...{ id: `file ${n}`, tenant_id: n % 2_000 === 0 ? 'ten_small' : 'ten_big', state: 2 },
        ...{
          contact_id: n % 4 === 0 ? null : contactOf('ten_big', n % 500),
          created_at: start + n,
        },
      })),
    );
    let part: Row[] = [];
    for (const row of messageRows()) {
      ids.push(String(row.id));
      part.push(row);
      if (part.length < 1_300) continue;
      await db.insert('messages', part);
      part = [];
    }
    await db.insert('messages', part);
  });
  return ids;
}

/** A read, and the most rows it may examine. */
interface Read {
  readonly name: string;
  readonly most: number;
  /** The table, as the statement names it, and the index it must go by; null when any will do. */
  readonly index: readonly [table: string, index: string] | null;
  /** How many of its results are so small that they may be sorted; else the order is the index's. */
  readonly sorts?: number;
  /**
   * The name, in the statement, of a table of which every row is to be looked at. MariaDB then says that it scans
   * its subqueries as well, and is held to the rows that it examines.
   */
  readonly scans?: string;
  run(tables: Tables): Promise<unknown>;
}

const messageIndex = (...columns: readonly string[]) =>
  ['m', `messages_${columns.join('_')}`] as const;

function reads(ids: readonly string[]): readonly Read[] {
  const found: Read[] = [];
  const add = (name: string, most: number, run: Read['run'], index: Read['index'] = null) =>
    found.push({ name, most, run, index });
  const before = (place: number) => ({ createdAt: start + place * 100, id: ids[place] ?? '' });
  for (const tenant of [...tenants, 'ten_nobody']) {
    for (const direction of [null, 'inbound', 'outbound'] as const) {
      for (const account of [null, 0, 1, 9]) {
        for (const position of [null, before(total / 2), before(50)]) {
          const accountId = account === null ? null : accountOf(tenant, account);
          const page = position === null ? 'first page' : `from ${position.createdAt - start}`;
          // One page and one more row, and the contact of each. SQLite puts both directions together.
          found.push({
            name: `list ${tenant} ${direction} ${accountId} ${page}`,
            most: 2 * 101 + 10,
            index: messageIndex(
              'tenant_id',
              ...(accountId === null ? [] : ['account_id']),
              'direction',
              'created_at',
              'id',
            ),
            sorts: direction === null ? 1 : 0,
            run: ({ messages }) =>
              messages.list(tenant, { direction, accountId, before: position, limit: 101 }),
          });
        }
      }
    }
    for (const account of [null, 0, 1, 9]) {
      for (const after of [0, 20, 14_000, 1_000_000]) {
        const accountId = account === null ? null : accountOf(tenant, account);
        add(
          `wait ${tenant} ${accountId} after ${after}`,
          2 * 50 + 10,
          ({ messages }) => messages.inboundAfter(tenant, after, accountId, 50),
          messageIndex(
            'tenant_id',
            ...(accountId === null ? [] : ['account_id']),
            'inbound_sequence',
          ),
        );
      }
    }
    add(`get ${tenant}`, 10, (tables) => tables.messages.find(tenant, ids[4] ?? ''));
    add(`queue of ${tenant}`, 210, (tables) =>
      tables.queuedMessages.queuedOf(accountOf(tenant, 0), 0, 200),
    );
    add(
      `queue of ${tenant} to a contact`,
      total / 10 + 50,
      (tables) =>
        tables.queuedMessages.undispatchedTo(accountOf(tenant, 0), contactOf(tenant, 7), 100),
      ['m', 'messages_account_id_status_sequence'],
    );
    for (const part of [{ dispatchedBefore: start, exceptFence: 1 }, { upTo: 50 }]) {
      add(
        `what may fail of the queue of ${tenant} by ${Object.keys(part)}`,
        110,
        (tables) => tables.queuedMessages.queuedForChange(accountOf(tenant, 0), 100, part),
        ['m', 'messages_account_id_status_sequence'],
      );
    }
    add(`queues of ${tenant}`, 50, (tables) =>
      tables.queuedMessages.accountsWithQueued([0, 1, 2, 3].map((n) => accountOf(tenant, n))),
    );
    add(`latest position of ${tenant}`, 5, (tables) => tables.tenants.inboundSequences([tenant]));
  }
  for (const position of [null, { createdAt: start + 5_000, id: contactOf('ten_big', 5_000) }]) {
    const filter = { channel: null, phone: null, before: position, limit: 101 };
    const page = position === null ? 'first page' : 'later page';
    add(`contacts, ${page}`, 110, ({ contacts }) => contacts.list('ten_big', filter));
    for (const channel of [null, 'msgapp_web', 'chatapp']) {
      add(`contacts of an account, of ${channel}, ${page}`, 330, ({ contacts }) =>
        contacts.list('ten_big', {
          ...{ ...filter, channel },
          accounts: new Set([accountOf('ten_big', 0)]),
        }),
      );
    }
    add(`contacts of a channel, ${page}`, 110, ({ contacts }) =>
      contacts.list('ten_big', { ...filter, channel: 'msgapp_web' }),
    );
    for (const channel of [null, 'msgapp_web']) {
      found.push({
        name: `contacts of a phone on ${channel}, ${page}`,
        most: 10,
        index: ['contacts', `contacts_tenant_id_${channel === null ? '' : 'channel_'}phone`],
        sorts: 1,
        run: ({ contacts }) =>
          contacts.list('ten_big', { ...filter, channel, phone: '+12020000007' }),
      });
    }
  }
  add('contacts of an address', 20, ({ contacts }) =>
    contacts.list('ten_big', {
      ...{ channel: null, phone: null, before: null, limit: 101 },
      addresses: ['+12020000007', 'network 9'],
    }),
  );
  for (const place of [null, logged / 2, 50]) {
    const position = place === null ? null : ([start + place, deliveryOf(place)] as const);
    for (const state of [null, 'delivered', 'failed'] as const) {
      const filter = { state, before: position, limit: 101 };
      add(`log of deliveries, ${state}, from ${place}`, 110, ({ deliveries }) =>
        deliveries.list('wh_big', filter),
      );
      add(`log of deliveries, ${state}, from ${place}, events`, 110, ({ deliveries }) =>
        deliveries.listEvents('wh_big', filter),
      );
    }
  }
  const leased = (name: string, most: number, run: Read['run']) =>
    found.push({ name, most, index: null, scans: 'lease_holders', run });
  leased('receivers: is one due', 10, ({ receivers }) => receivers.leases.hasFree('one', start));
  // Of those to which nothing is due each is read, and looked for among the subscriptions.
  add('receivers: those of no subscription', 3 * 5_000, ({ receivers }) =>
    receivers.deleteUnused(now, 10),
  );
  add('receivers: the next one due', 5, ({ receivers }) => receivers.nextDueAt());
  add('event subscriptions: those whose time is over', 20, ({ eventSubscriptions }) =>
    eventSubscriptions.expired(100),
  );
  found.push({
    name: 'event subscriptions: those whose key has ended',
    most: 4 * 10 + 2 * 50 + 20,
    index: null,
    scans: 'webhooks USING COVERING INDEX webhooks_key_id',
    run: ({ eventSubscriptions }) => eventSubscriptions.keyless(50),
  });
  const claim = { owner: 'one', now: start + 10_000, leaseMs: 9_000 };
  // Each is found, taken and read; of the holders every row is looked at.
  leased('receivers: a claim', 4 * 7 + 20, ({ receivers }) =>
    receivers.leases.claim({ ...claim, limit: 7 }),
  );
  leased('receivers: a claim of more than are free', 4 * 60 + 20, ({ receivers }) =>
    receivers.leases.claim({ ...claim, limit: 60 }),
  );
  leased('sessions: a claim', 30, ({ leases }) => leases.rows.claim({ ...claim, limit: 7 }));
  // The days 100 to 129, and as texts 11 and 12.
  add('usage: days', 32 + 5, ({ usage }) => usage.between('ten_big', 'day 100', 'day 129'));
  add('refusals: days', 32 + 5, ({ refusals }) =>
    refusals.between('ten_big', 'day 100', 'day 129'),
  );
  const every = 10 * (tenants.length + 500);
  // The queues of all accounts: few seeks for each, and each of the messages that are queued.
  found.push({
    name: 'metrics: queues',
    most: total / 10 + 5 * every,
    index: null,
    scans: 'a',
    run: ({ queuedMessages }) => queuedMessages.queues(),
  });
  found.push({
    name: 'log of deliveries: what is old',
    most: 10,
    index: ['deliveries', 'deliveries_created_at_state'],
    run: ({ deliveries }) => deliveries.deleteBefore(start, start, 1_000),
  });
  // Never by the index of all webhooks: the backlog of another would be walked as well.
  add('log of deliveries: what waits', 10, ({ deliveries }) => deliveries.backlog('wh_big'), [
    'deliveries',
    'deliveries_webhook_id_state_created_at_id_attempts_replayed',
  ]);
  add('recoveries: the newest', 10, ({ recoveries }) => recoveries.newest('wh_big'));
  for (const place of [null, logged / 2, 50]) {
    const position = place === null ? null : { createdAt: start + place, id: `key_run_${place}` };
    add(
      `keys from ${place}`,
      110,
      ({ apiKeys }) => apiKeys.page('ten_big', { before: position, limit: 101 }),
      ['api_keys', 'api_keys_tenant_id_revoked_at_created_at_id'],
    );
  }
  // The current ones alone, 50 of them without an end.
  add('keys: how many', 60, ({ apiKeys }) => apiKeys.countCurrent('ten_big'), [
    'api_keys',
    'api_keys_tenant_id_revoked_at_expires_at',
  ]);
  add('keys: those that ended long ago', 10, ({ apiKeys }) =>
    apiKeys.deleteEnded(start, 1_000, []),
  );
  add('metrics: waiting deliveries', 20, ({ deliveries }) => deliveries.waiting());
  add('metrics: receivers in trouble', 10, ({ receivers }) => receivers.troubled());
  add('usage: accounts', 15, (tables) => tables.accountCounts.ofTenant('ten_big'));
  found.push({
    name: 'expiry: a few rows of every account, however long its queue',
    most: 3 * every + 100,
    index: null,
    scans: 'a',
    run: ({ queuedMessages }) => queuedMessages.accountsToExpire(0, 200),
  });
  const some = Array.from({ length: 200 }, (_, n) => ids[n * 450] ?? '');
  const accounts = tenants.map((tenant) => accountOf(tenant, 0));
  const contacts = tenants.flatMap((tenant) => [1, 2, 3].map((n) => contactOf(tenant, n)));
  const pairs = accounts.flatMap((accountId) =>
    contacts.map((contactId) => ({ accountId, contactId })),
  );
  // Of each direction its newest message of a pair, and of the inbound ones those above the newest outbound one.
  const own = tenants.flatMap((tenant) =>
    [1, 2, 3].map((n) => ({ accountId: accountOf(tenant, 0), contactId: contactOf(tenant, n) })),
  );
  add('conversations: the newest', 240, ({ conversations }) => conversations.newest(own));
  add('conversations: unanswered', 240, ({ conversations }) => conversations.unanswered(own));
  const phones = Array.from({ length: 100 }, (_, n) => `+1202${String(n).padStart(7, '0')}`);
  add('receipts by reference', 410, ({ messages }) => messages.forChange(some));
  add('receipts by network id', 820, ({ messages }) =>
    messages.byNetworkIds(
      'outbound',
      some.map((_, n) => ({ accountId: accountOf('ten_big', 0), networkId: `network-${n * 450}` })),
    ),
  );
  add('messages by id', 410, ({ messages }) => messages.byIds(some));
  add('sweep: what sessions follow', 15, (tables) => tables.accounts.followed(accounts));
  add('accept: tenants', 10, ({ tenants: table }) => table.find([...tenants]));
  const keys = Array.from({ length: 100 }, (_, n) => tenants[n % 2] ?? '').map((tenantId, n) => ({
    tenantId,
    keyHash: keyOf(tenantId, n * 10),
  }));
  add('accept: keys', 110, ({ idempotency }) => idempotency.find(keys));
  add('accept: one key', 2, ({ idempotency }) => idempotency.find(keys.slice(0, 1)));
  add('accept: accounts to choose from', 100, (tables) =>
    tables.sending.candidates(tenants.slice(0, 2)),
  );
  add('accept: accounts that a refusal names', 100, (tables) =>
    tables.sending.disconnected(tenants.slice(0, 2)),
  );
  // Each name, tenant, account, contact, thread and counter, and the messages that make a contact busy.
  const busy = { messages: 10, windowMs: Date.now() - start };
  add('accept: contacts by id', 13 * (7 + 10), ({ sending }) =>
    sending.snapshots(
      tenants.flatMap((tenantId) =>
        [1, 2, 3].map((n) => ({
          tenantId,
          accountId: accountOf(tenantId, 0),
          contactId: contactOf(tenantId, n),
          phone: null,
        })),
      ),
      busy,
      'day 3',
    ),
  );
  add('accept: contacts by phone', 101 * (7 + 10), ({ sending }) =>
    sending.snapshots(
      phones.map((phone) => ({
        tenantId: 'ten_big',
        accountId: accountOf('ten_big', 0),
        contactId: null,
        phone,
      })),
      busy,
      'day 3',
    ),
  );
  const addresses = phones.map((_, n) => new Map([['msgapp_web', `network ${n}`]]));
  add('accept: contacts by address', 101 * (7 + 10), ({ sending }) =>
    sending.snapshots(
      addresses.map((one) => ({
        tenantId: 'ten_big',
        accountId: accountOf('ten_big', 0),
        contactId: null,
        phone: null,
        addresses: one,
      })),
      busy,
      'day 3',
    ),
  );
  // By itself a name leads to each row by a whole key, or to none, whatever else the tenant has.
  for (const accountId of [accountOf('ten_big', 0), accountOf('ten_big', 99), null]) {
    for (const contact of ['known', 'unknown'] as const) {
      const phone = contact === 'known' ? '+12020000007' : '+12029999999';
      const contactId = contact === 'known' ? contactOf('ten_big', 7) : 'con_nobody';
      const naming = { tenantId: 'ten_big', accountId };
      add(`accept: one ${contact} phone, ${accountId}`, 7 + 12, ({ sending }) =>
        sending.snapshots([{ ...naming, contactId: null, phone }], busy, 'day 3'),
      );
      const named = new Map([['msgapp_web', contact === 'known' ? 'network 7' : 'nobody']]);
      add(`accept: one ${contact} address, ${accountId}`, 7 + 12, ({ sending }) =>
        sending.snapshots(
          [{ ...naming, contactId: null, phone: null, addresses: named }],
          busy,
          'day 3',
        ),
      );
      add(`accept: one ${contact} contact, ${accountId}`, 7 + 12, ({ sending }) =>
        sending.snapshots([{ ...naming, contactId, phone: null }], busy, 'day 3'),
      );
    }
  }
  for (const id of [contactOf('ten_big', 7), aliasOf('ten_big', 7), 'con_nobody']) {
    add(`contact ${id}`, 4, (tables) => tables.contacts.find('ten_big', id));
  }
  add('accept: one alias', 7 + 12, ({ sending }) =>
    sending.snapshots(
      [
        {
          tenantId: 'ten_big',
          accountId: accountOf('ten_big', 0),
          contactId: aliasOf('ten_big', 7),
          phone: null,
        },
      ],
      busy,
      'day 3',
    ),
  );
  // What becomes one person: its threads, aliases and messages, which are gone when it is asked again.
  const gone = Array.from({ length: 100 }, (_, n) => contactOf('ten_small', n));
  const merges = new Map(gone.map((id, n) => [id, contactOf('ten_small', 200 + n)]));
  add('merge: threads', 310, (tables) => tables.threads.ofContacts(gone));
  add('merge: threads that go', 310, (tables) => tables.threads.deleteOfContacts(gone));
  add('merge: messages', 310, (tables) => tables.contactMessages.moveContacts(merges));
  add('merge: aliases of these', 210, (tables) => tables.contactAliases.of(gone));
  // More than SQLite takes in one statement; of a portion MariaDB reads the table, as that has hardly more.
  found.push({
    name: 'merge: aliases of a long queue',
    most: 40 * 2_010,
    index: null,
    scans: 'contact_aliases',
    run: ({ contactAliases }) =>
      contactAliases.of(Array.from({ length: 40_000 }, (_, n) => contactOf('ten_big', n))),
  });
  add('accept: threads', 110, (tables) => tables.threads.byKeys(pairs));
  // The openers of four accounts within the window, through a temporary table.
  add('accept: openers', 4 * 60 * 8, (tables) =>
    tables.threads.openersWithin(accounts, { since: now - 60_000, until: now }, 5),
  );
  add('accept: times of the loop guard', 4_000, (tables) =>
    tables.contactMessages.timesWithin(
      contacts.concat(contactOf('ten_big', 499), contactOf('ten_queue', 499)),
      { since: now - 60_000, until: now },
      10,
    ),
  );
  // The rows of what a deleted tenant has, a page of it at a time: none of its ten thousand contacts besides.
  const aliases = belongingsOf(contactTableSchema).find(({ table }) => table === 'contact_aliases');
  if (aliases === undefined) throw new Error('aliases belong to nobody');
  for (const [page, position] of [
    ['first page', firstOwner],
    ['later page', [start + 5_000, contactOf('ten_big', 5_000)]],
  ] as const) {
    add(
      `erase: contacts of a tenant, ${page}`,
      110,
      ({ tenantRows }) => tenantRows.owners('contacts', 'ten_big', position, 100),
      ['contacts', 'contacts_tenant_id_created_at_id'],
    );
  }
  const owners = Array.from({ length: 100 }, (_, n) => contactOf('ten_big', n));
  add('erase: aliases of these', 2 * 100 + 10, ({ tenantRows }) =>
    tenantRows.some(owners, aliases, 200),
  );
  // Erased contacts end the list, however many of the newest they are.
  const file = [start, 'file 0'] as const;
  const byOwner = (column: string) =>
    ['media_files', `media_files_${column}_state_created_at`] as const;
  const small = { tenantId: 'ten_small', contactId: null };
  const ofOne = { tenantId: 'ten_big', contactId: contactOf('ten_big', 7) };
  for (const [owner, column, sorts] of [
    [small, 'tenant_id', 1],
    [ofOne, 'contact_id', 1],
  ] as const) {
    found.push({
      name: `erase: the files of one, by ${column}`,
      ...{ most: 15, index: byOwner(column), sorts },
      run: ({ media }) => media.givenUp(owner, file, 32),
    });
  }
  add('erase: contacts', 400 * 3, async ({ contacts }) => {
    for (let n = 100; n < 500; n += 1) await contacts.erase(contactOf('ten_mixed', n));
  });
  for (const channel of [null, 'msgapp_web']) {
    for (const limit of [11, 501]) {
      add(`contacts of ${channel} without the erased, ${limit}`, 110, ({ contacts }) =>
        contacts.list('ten_mixed', { channel, phone: null, before: null, limit }),
      );
    }
  }
  // Those that are queued are passed over.
  add('upkeep: old messages', 210, ({ messages }) => messages.storedBefore(now - 60_000, 100), [
    'messages',
    'sqlite_autoindex_messages_1',
  ]);
  // Each is found by its age, then by its key: none is tried with another tenant.
  add('upkeep: old keys', 2 * 100 + 20, ({ idempotency }) =>
    idempotency.deleteBefore(start + 50, 100),
  );
  // Each by its day, then by its key: MariaDB reads the row behind it, too.
  for (const table of ['usage', 'refusals', 'limitNotices'] as const) {
    add(`upkeep: old days of ${table}`, 3 * 100 + 20, (tables) =>
      tables[table].deleteBefore('day 2', 100),
    );
  }
  add('accept: usage', 30, ({ usage }) => usage.of([...tenants], accounts, 'day 3'));
  return found;
}

/** One statement as it was run. */
interface Statement {
  readonly sql: string;
  readonly bindings: readonly (string | number | null)[];
}

for (const engine of databases) {
  t.test(`plans over ${total} messages, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const { connections } = await migratedStorage(t, database.url);
    const begunAt = performance.now();
    const ids = await fill(connections);
    t.comment(`filled in ${Math.round(performance.now() - begunAt)} ms`);
    if (connections.dialect === 'mysql') {
      await connections.write.raw(
        'analyze table messages, contacts, threads, accounts, tenants, receivers, webhooks, api_keys, media_files',
      );
    }
    // One transaction, so that all is asked on the very same connection.
    const transaction = await connections.write.transaction();
    const statements: Statement[] = [];
    transaction.on('query', ({ sql, bindings }: Statement) => statements.push({ sql, bindings }));
    const db = new Executor(transaction, connections.dialect);
    const tables = makeTables(db);
    const check = connections.dialect === 'mysql' ? checkMysql : checkSqlite;
    for (const read of reads(ids)) {
      statements.length = 0;
      await read.run(tables);
      const ran = [...statements];
      t.ok(ran.length > 0, `${read.name} runs ${ran.length} statements`);
      await check(t, db, read, ran);
    }
    await checkPages(t, db);
    await transaction.rollback().catch(() => undefined);
  });
}

/** Pages of both directions together, in which all messages of three moments show once, newest first. */
async function checkPages(t: Test, db: Executor): Promise<void> {
  const rows = [...messageRows()].slice(0, 9).map((row, n) => ({
    ...row,
    ...{ id: `msg_page_${n}`, tenant_id: 'ten_pages', account_id: 'acc_pages' },
    ...{ direction: n % 2 === 0 ? 'inbound' : 'outbound', network_id: `page-${n}` },
    ...{ sequence: null, inbound_sequence: null, created_at: start + Math.floor(n / 3) },
  }));
  await db.insert('messages', rows);
  const { messages } = makeTables(db);
  for (const accountId of [null, 'acc_pages']) {
    const shown: string[] = [];
    let before: ListPosition | null = null;
    for (let page = 0; page < 5; page += 1) {
      const filter = { direction: null, accountId, before, limit: 2 };
      const found = await messages.list('ten_pages', filter);
      shown.push(...found.map(({ id }) => id));
      const last = found.at(-1);
      if (last !== undefined) before = { createdAt: last.createdAt, id: last.id };
    }
    t.same(shown, rows.map(({ id }) => id).reverse(), `pages of ${accountId ?? 'all'}`);
  }
}

/** MariaDB counts what it reads, and says which index it takes. */
async function checkMysql(
  t: Test,
  db: Executor,
  read: Read,
  statements: readonly Statement[],
): Promise<void> {
  const before = await handlerReads(db);
  await read.run(makeTables(db));
  const examined = (await handlerReads(db)) - before;
  const problems = examined <= read.most ? [] : [`examines ${examined} rows, not ${read.most}`];
  for (const { sql, bindings } of statements) {
    const plan = await db.rows<{ table: string; type: string; key: string | null }>(
      `explain ${sql}`,
      bindings,
    );
    for (const { table, type, key } of plan) {
      // What is named in the statement itself, or comes from a result of its own.
      if (table === 'names' || /^<(derived|union)/.test(table ?? '')) continue;
      if (read.scans !== undefined) continue;
      if (type === 'ALL' || type === 'index')
        problems.push(`${type} of ${table} by ${key}: ${sql}`);
    }
  }
  t.same(problems, [], `${read.name}: by an index, ${examined} rows`);
}

async function handlerReads(db: Executor): Promise<number> {
  const counters = await db.rows<{ Value: string }>("show session status like 'Handler_read%'");
  return counters.reduce((sum, { Value }) => sum + Number(Value), 0);
}

/** SQLite says how it finds rows and whether it sorts; it stops at the limit of what it need not sort. */
async function checkSqlite(
  t: Test,
  db: Executor,
  read: Read,
  statements: readonly Statement[],
): Promise<void> {
  const problems: string[] = [];
  for (const { sql, bindings } of statements) {
    const plan = await db.rows<{ detail: string }>(`explain query plan ${sql}`, bindings);
    const details = plan.map(({ detail }) => detail);
    // What is read from a result of its own, and what has no table at all.
    problems.push(
      ...details.filter(
        (detail) =>
          /^SCAN (?!part_|unanswered|recent|addressed|backlog|subscribed|json_each|\(subquery|(\d+ )?CONSTANT)/.test(
            detail,
          ) && detail !== `SCAN ${read.scans}`,
      ),
    );
    if (read.index === null) continue;
    const sorting = details.filter((detail) => /TEMP B-TREE/.test(detail));
    if (sorting.length > (read.sorts ?? 0)) problems.push(...sorting);
    const [table, name] = read.index;
    const index = new RegExp(`^SEARCH ${table} USING (COVERING )?INDEX ${name} \\(`);
    if (!details.some((detail) => index.test(detail))) problems.push(`goes by ${details}`);
  }
  t.same(problems, [], `${read.name}: by an index`);
}
