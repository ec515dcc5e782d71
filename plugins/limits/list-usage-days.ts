import { type Static, Type } from 'typebox';
import { type AnyOperation, operation } from '../../core/operation.ts';
import { Closed } from '../../core/schemas.ts';
import type { RefusalCounter } from './contract.ts';
import { dayMs, dayOf, sumOf } from './days.ts';
import type { UsageCounter } from './tables/usage.ts';

const counts = {
  sends: Type.Integer({ description: 'messages accepted' }),
  new_contacts: Type.Integer({ description: 'contacts made by sends' }),
};

const UsageDaySchema = Type.Object(
  {
    day: Type.String({ format: 'date', description: 'UTC', examples: ['2026-01-31'] }),
    ...counts,
    accounts: Type.Array(
      Type.Object({ account_id: Type.String(), ...counts }, { $id: 'UsageDayAccount' }),
      { description: 'the accounts that sent on this day, removed ones included, by id' },
    ),
    refusals: Type.Array(
      Type.Object(
        {
          code: Type.String({ examples: ['daily_send_cap'] }),
          count: Type.Integer({ description: 'sends that were refused with it', minimum: 1 }),
        },
        { $id: 'UsageDayRefusals' },
      ),
      { description: 'the refused sends of this day, by code' },
    ),
  },
  { $id: 'UsageDay' },
);

/** What `GET /usage/days` asks for. */
export interface ListUsageDaysParts {
  /** The database's time. */
  now(): Promise<number>;
  counters(tenantId: string, firstDay: string, lastDay: string): Promise<readonly UsageCounter[]>;
  refusals(tenantId: string, firstDay: string, lastDay: string): Promise<readonly RefusalCounter[]>;
}

/** The usage of the last days: `GET /usage/days`, REST only. */
export function listUsageDays({ now, counters, refusals }: ListUsageDaysParts): AnyOperation {
  return operation({
    id: 'list_usage_days',
    method: 'GET',
    path: '/usage/days',
    tool: null,
    scope: 'read',
    withinAccounts: true,
    group: 'usage',
    summary: 'List the usage of the last days',
    description: [
      'Sends, new contacts and refused sends of the last UTC days, today included, oldest first; a day without',
      'anything is there with zeros. A send that failed later still counts. `refusals` counts the sends that were',
      'refused when they were decided: by an account, a contact, a guard, a cap or an Idempotency-Key. Requests that',
      'were wrong in themselves are not counted.',
    ].join('\n'),
    hints: { readOnly: true, destructive: false, idempotent: true },
    params: null,
    query: Closed({
      days: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 90, default: 30, description: 'how many days' }),
      ),
    }),
    body: null,
    answers: { 200: Type.Object({ days: Type.Array(UsageDaySchema) }) },
    errors: [],
    examples: [
      {
        summary: 'Yesterday and today',
        query: { days: '2' },
        answer: {
          status: 200,
          body: {
            days: [
              { day: '2026-01-30', sends: 0, new_contacts: 0, accounts: [], refusals: [] },
              {
                day: '2026-01-31',
                sends: 42,
                new_contacts: 7,
                accounts: [
                  { account_id: 'acc_01j5x8zn1c8t6j1k3m5p7r9rst', sends: 42, new_contacts: 7 },
                ],
                refusals: [{ code: 'opener_burst', count: 3 }],
              },
            ],
          },
        },
      },
    ],
    async handler({ caller: { tenantId, accountIds }, query }) {
      const today = await now();
      const count = query.days ?? 30;
      const days = Array.from({ length: count }, (_, n) => dayOf(today - (count - 1 - n) * dayMs));
      const [first = '', last = ''] = [days[0], days.at(-1)];
      const [used, refused] = await Promise.all([
        counters(tenantId, first, last),
        // Refusals are counted by tenant: whose they were is not known.
        accountIds === null ? refusals(tenantId, first, last) : [],
      ]);
      return { status: 200, body: { days: usageDays(days, ofKey(used, accountIds), refused) } };
    },
  });
}

/** The counters that a key may see: of its accounts, with their sum in place of the tenant's. */
function ofKey(
  used: readonly UsageCounter[],
  accountIds: ReadonlySet<string> | null,
): readonly UsageCounter[] {
  if (accountIds === null) return used;
  const own = used.filter(({ accountId }) => accountIds.has(accountId));
  const sums = [...byDay(own).values()].flatMap((ofDay) =>
    ofDay.slice(0, 1).map((first) => ({ ...first, accountId: '', ...sumOf(ofDay) })),
  );
  return [...own, ...sums];
}

/** The counters of these days, day by day. Pure. */
function usageDays(
  days: readonly string[],
  used: readonly UsageCounter[],
  refused: readonly RefusalCounter[],
): Static<typeof UsageDaySchema>[] {
  const usedOn = byDay(used);
  const refusedOn = byDay(refused);
  return days.map((day) => {
    const ofDay = usedOn.get(day) ?? [];
    const total = ofDay.find(({ accountId }) => accountId === '');
    return {
      day,
      sends: total?.sends ?? 0,
      new_contacts: total?.newContacts ?? 0,
      accounts: ofDay.flatMap(({ accountId, sends, newContacts }) =>
        accountId === '' ? [] : { account_id: accountId, sends, new_contacts: newContacts },
      ),
      refusals: (refusedOn.get(day) ?? []).map(({ code, refusals }) => ({ code, count: refusals })),
    };
  });
}

function byDay<Counter extends { readonly day: string }>(
  counters: readonly Counter[],
): ReadonlyMap<string, readonly Counter[]> {
  const found = new Map<string, Counter[]>();
  for (const counter of counters) {
    const ofDay = found.get(counter.day);
    if (ofDay === undefined) found.set(counter.day, [counter]);
    else ofDay.push(counter);
  }
  return found;
}
