import type { Dialect } from '../../../core/contracts/sql.ts';

/** What a past is computed from. Moments are milliseconds since the Unix epoch. */
export interface PastFrame {
  readonly dialect: Dialect;
  readonly tenantId: string;
  readonly webhookId: string;
  /** Two characters that stand in the ids of this past and of no other in the same database. */
  readonly mark: string;
  readonly messages: number;
  readonly contacts: number;
  readonly accounts: number;
  readonly startAt: number;
  readonly endAt: number;
}

/** A statement with `?` for its values. */
export interface Statement {
  readonly sql: string;
  readonly values: readonly string[];
}

const channel = 'msgapp_web';
const dayMs = 86_400_000;

/** Events and deliveries are kept for 7 days. */
const loggedMs = 7 * dayMs;

/** A prime: numbers times another are spread evenly below it, the same way each time. */
const spreadSize = 1_000_003;

/** The nth id of a past; they sort by n, and before all that a gateway makes later. */
export function idOf({ mark }: Pick<PastFrame, 'mark'>, prefix: string, n: number): string {
  return `${prefix}_01j0000${mark}${String(n).padStart(17, '0')}`;
}

/** When the nth of so many came. */
export function momentOf({ startAt, endAt }: PastFrame, count: number, n: number): number {
  return startAt + n * Math.floor((endAt - startAt) / count);
}

/** The number of the nth contact. */
export function phoneOf(n: number): string {
  return `+1303${2_000_000 + n}`;
}

/** Contacts, each at one of the accounts in `bench_accounts`, of which the first have most. */
export function contactStatements(frame: PastFrame): readonly Statement[] {
  const { tenantId, contacts, accounts } = frame;
  const account = skewed('i.n * 7919', accounts);
  return [
    {
      sql: `insert into bench_contacts (n, id, account_id, waits)
        select i.n, ${idSql(frame, 'con', 'i.n')}, a.id, a.waits
        from ${numbers(frame, contacts)} i join bench_accounts a on a.n = ${account}`,
      values: [],
    },
    {
      sql: `insert into contacts (id, tenant_id, channel, phone, name, created_at)
        select id, ?, '${channel}', concat('+1303', 2000000 + n), concat('Contact ', n),
          ${momentSql(frame, contacts, 'n')}
        from bench_contacts`,
      values: [tenantId],
    },
    {
      sql: `insert into threads (account_id, contact_id, opened_at, inbound_at)
        select account_id, id, ${momentSql(frame, contacts, 'n')}, ${frame.endAt - dayMs}
        from bench_contacts`,
      values: [],
    },
  ];
}

/**
 * Messages: three of five outbound. In the last day one of fifty waits, where its account has lost its session; of
 * the others nearly all were read.
 */
export function messageStatement(frame: PastFrame): Statement {
  const { tenantId, messages, contacts } = frame;
  const lately = Math.floor(messages * 0.99);
  return {
    sql: `insert into messages (id, tenant_id, account_id, channel, contact_id, direction, text, media,
        status, error, network_id, sequence, inbound_sequence, dispatched_at, attempts, dispatch_fence,
        created_at, sent_at, delivered_at, read_at, failed_at)
      select ${idSql(frame, 'msg', 'm.n')}, ?, m.account_id, '${channel}', m.contact_id, m.direction,
        concat('Your order ', m.n, ' is on its way and should reach you within the next two days.'),
        case when m.n % 25 = 4 then '{"kind":"image","url":null,"mime_type":"image/jpeg","file_name":null,"size":48211}' end,
        m.status,
        case when m.status = 'failed' then 'media_unavailable: the media could not be fetched' end,
        case when m.status not in ('failed', 'queued')
          then concat('3EB0', 1000000 + m.n * 48271 % ${spreadSize}, 'C', m.n) end,
        case when m.direction = 'outbound' then m.n + 1 end,
        case when m.direction = 'inbound' then ${quotient('m.n', 5)} * 2 + m.n % 5 - 2 end,
        case when m.direction = 'outbound' and m.status <> 'queued' then m.at + 80 end,
        case when m.direction = 'outbound' and m.status <> 'queued' then 1 else 0 end,
        case when m.direction = 'outbound' and m.status <> 'queued' then 1 end,
        m.at,
        case when m.status in ('sent', 'delivered', 'read') then m.at + 300 end,
        case when m.status in ('delivered', 'read') then m.at + 1500 end,
        case when m.status = 'read' then m.at + 60000 end,
        case when m.status = 'failed' then m.at + 300 end
      from (
        select i.n, k.id as contact_id, k.account_id, ${momentSql(frame, messages, 'i.n')} as at,
          case when i.n % 5 < 3 then 'outbound' else 'inbound' end as direction,
          case when i.n % 5 > 2 then 'received'
            when k.waits = 1 and i.n % 50 = 1 and i.n > ${lately} then 'queued'
            when i.n % 20 = 0 then 'failed' when i.n % 20 < 3 then 'sent'
            when i.n % 20 < 8 then 'delivered' else 'read' end as status
        from ${numbers(frame, messages)} i
        join bench_contacts k on k.n = ${skewed('i.n * 48271', contacts)}
      ) m`,
    values: [tenantId],
  };
}

/** Where the numberings of a tenant and of its accounts stand after that. */
export function sequenceStatements({ tenantId }: PastFrame): readonly Statement[] {
  return [
    {
      sql: `update tenants set inbound_sequence =
        (select max(inbound_sequence) from messages where tenant_id = ?) where id = ?`,
      values: [tenantId, tenantId],
    },
    {
      sql: `update accounts set outbound_sequence = coalesce(
        (select max(sequence) from messages where account_id = accounts.id), 0) where tenant_id = ?`,
      values: [tenantId],
    },
  ];
}

/** The events of the last days, one for each status that a message went through, and their deliveries. */
export function logStatements(frame: PastFrame): readonly Statement[] {
  const { tenantId, webhookId, endAt } = frame;
  const since = endAt - loggedMs;
  const event = (place: number, status: string, column: string): Statement => ({
    sql: `insert into events (id, tenant_id, type, subject, payload, state, created_at)
      select concat('evt', substr(m.id, 4), ${place}), m.tenant_id, 'message.${status}', m.id,
        concat('{"event":"message.${status}","created_at":"2026-01-31T09:30:00.000Z","account_id":"',
          m.account_id, '","channel":"${channel}","message":{"id":"', m.id, '","direction":"', m.direction,
          '","text":"', m.text, '","media":null,"status":"${status}","error":null},"contact":{"id":"',
          m.contact_id, '","phone":"+13035550100","name":"Contact"}}'), 1, m.${column}
      from messages m where m.tenant_id = ? and m.created_at > ${since} and m.${column} is not null
        and m.direction = '${status === 'received' ? 'inbound' : 'outbound'}'`,
    values: [tenantId],
  });
  return [
    event(0, 'received', 'created_at'),
    event(1, 'sent', 'sent_at'),
    event(2, 'delivered', 'delivered_at'),
    event(3, 'read', 'read_at'),
    {
      sql: `insert into deliveries (id, tenant_id, webhook_id, receiver_id, event_id, event_type, subject, state,
          attempts, log, created_at)
        select concat('dlv', substr(e.id, 4)), e.tenant_id, w.id, w.receiver_id, e.id, e.type, e.subject,
          'delivered', 1,
          concat('[{"number":1,"at":', e.created_at, ',"durationMs":41,"statusCode":200,"answer":"","failure":null}]'),
          e.created_at
        from events e join webhooks w on w.id = ? where e.tenant_id = ? and e.type <> 'message.sent'`,
      values: [webhookId, tenantId],
    },
  ];
}

/** What the tenant and each of `bench_accounts` was counted on each day before today. */
export function usageStatements(frame: PastFrame): readonly Statement[] {
  const { tenantId, messages, accounts, startAt, endAt } = frame;
  const count = Math.round((endAt - startAt) / dayMs);
  const sends = Math.ceil(messages / count);
  const days = Array.from({ length: count }, (_, n) =>
    new Date(endAt - (n + 1) * dayMs).toISOString().slice(0, 10),
  );
  return days.flatMap((day) => [
    {
      sql: `insert into usage_counters (tenant_id, day, account_id, sends, new_contacts)
        select ?, ?, id, ${Math.ceil(sends / accounts)}, 1 from bench_accounts`,
      values: [tenantId, day],
    },
    {
      sql: `insert into usage_counters (tenant_id, day, sends, new_contacts)
        values (?, ?, ${sends}, ${accounts})`,
      values: [tenantId, day],
    },
  ]);
}

/** The answers that are kept under Idempotency-Keys: every send of the last hours had one. */
export function keyStatement({ tenantId, endAt }: PastFrame): Statement {
  const zeros = '0'.repeat(64);
  return {
    sql: `insert into idempotency_keys (tenant_id, key_hash, body_hash, answer, created_at)
      select m.tenant_id, substr(concat(m.id, '${zeros}'), 1, 64), '${zeros}',
        concat('{"id":"', m.id, '","status":"queued"}'), m.created_at
      from messages m
      where m.tenant_id = ? and m.created_at > ${endAt - dayMs / 2} and m.direction = 'outbound'`,
    values: [tenantId],
  };
}

/** 0 to `count` - 1, as a table with the column `n`. */
function numbers({ dialect }: PastFrame, count: number): string {
  if (dialect === 'mysql') return `(select seq as n from seq_0_to_${count - 1})`;
  return `(with recursive numbers (n) as
    (select 0 union all select n + 1 from numbers where n < ${count - 1}) select n from numbers)`;
}

/** One of the numbers below `count`, by a number that is spread: the lowest come up most. */
function skewed(number: string, count: number): string {
  const spread = `(${number} % ${spreadSize})`;
  return quotient(`${spread} * ${spread} * ${count}`, spreadSize * spreadSize);
}

/** Division without the rest, which the engines spell in different ways. */
function quotient(dividend: string, divisor: number): string {
  return `cast((${dividend} - (${dividend}) % ${divisor}) / ${divisor} as integer)`;
}

function idSql({ mark }: PastFrame, prefix: string, n: string): string {
  return `concat('${prefix}_01j0000${mark}', substr(concat('${'0'.repeat(17)}', ${n}), -17))`;
}

function momentSql(frame: PastFrame, count: number, n: string): string {
  const step = momentOf(frame, count, 1) - frame.startAt;
  return `${frame.startAt} + ${n} * ${step}`;
}
