import { Type } from 'typebox';
import { type AnyOperation, operation } from '../../core/operation.ts';
import { Closed } from '../../core/schemas.ts';
import type { RefusalCounter } from './contract.ts';
import { dayMs, dayOf, mostDays } from './days.ts';
import type { UsageCounter } from './tables/usage.ts';
import { ofKey, usageDays } from './usage-days.ts';

const counts = {
  sends: Type.Integer({ description: 'messages accepted' }),
  new_contacts: Type.Integer({ description: 'contacts made by sends' }),
};

const Refusals = (description: string) =>
  Type.Array(
    Type.Object(
      {
        code: Type.String({ examples: ['daily_send_cap'] }),
        count: Type.Integer({ description: 'sends that were refused with it', minimum: 1 }),
      },
      { $id: 'UsageDayRefusals' },
    ),
    { description },
  );

const UsageDaySchema = Type.Object(
  {
    day: Type.String({ format: 'date', description: 'UTC', examples: ['2026-01-31'] }),
    ...counts,
    accounts: Type.Array(
      Type.Object(
        {
          account_id: Type.String(),
          ...counts,
          refusals: Refusals('refused sends that named the account, or for which it was chosen'),
        },
        { $id: 'UsageDayAccount' },
      ),
      {
        description:
          'the accounts that sent on this day, or whose sends were refused, removed ones included, by id',
      },
    ),
    refusals: Refusals(
      'the refused sends of this day, by code, those among them that were refused before an account was known',
    ),
  },
  { $id: 'UsageDay' },
);

/** Dependencies of `GET /usage/days`. */
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
      'were wrong in themselves are not counted. A key that is limited to accounts sees what is counted for them.',
    ].join('\n'),
    hints: { readOnly: true, destructive: false, idempotent: true },
    params: null,
    query: Closed({
      days: Type.Optional(
        Type.Integer({ minimum: 1, maximum: mostDays, default: 30, description: 'how many days' }),
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
                  {
                    account_id: 'acc_01j5x8zn1c8t6j1k3m5p7r9rst',
                    ...{ sends: 42, new_contacts: 7 },
                    refusals: [{ code: 'opener_burst', count: 3 }],
                  },
                ],
                refusals: [
                  { code: 'ambiguous_account', count: 1 },
                  { code: 'opener_burst', count: 3 },
                ],
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
        refusals(tenantId, first, last),
      ]);
      const seen = refused.filter(
        ({ accountId }) => accountIds === null || accountIds.has(accountId),
      );
      return { status: 200, body: { days: usageDays(days, ofKey(used, accountIds), seen) } };
    },
  });
}
