import { Type } from 'typebox';
import type { Caller } from '../../core/contracts/caller.ts';
import { type AnyOperation, operation } from '../../core/operation.ts';
import { OneOf } from '../../core/schemas.ts';
import type { Usage } from './usage.ts';

/** The usage record. */
const UsageSchema = Type.Object(
  {
    plan: Type.String({ description: 'name of the plan', examples: ['growth'] }),
    status: OneOf(['active', 'suspended'], {
      description: 'A suspended account holder is refused on send, with `account_suspended`.',
    }),
    day: Type.String({
      format: 'date',
      description: 'the UTC day that the counters cover',
      examples: ['2026-01-31'],
    }),
    sends: Type.Integer({ description: 'messages accepted today' }),
    sends_cap: Type.Integer({ description: 'daily send cap' }),
    new_contacts: Type.Integer({ description: 'contacts made by sends today' }),
    new_contacts_cap: Type.Integer({ description: 'daily new-contact cap' }),
    accounts_total: Type.Integer({ description: 'account records that were not removed' }),
    accounts_connected: Type.Integer({ description: 'accounts connected now' }),
    accounts_cap: Type.Integer({ description: 'account cap of the plan' }),
  },
  { $id: 'Usage' },
);

/** Dependencies of `GET /usage`. */
export interface UsageOperationParts {
  usage(caller: Caller): Promise<Usage>;
  plan(name: string): {
    readonly sends_cap: number;
    readonly new_contacts_cap: number;
    readonly accounts_cap: number;
  };
}

/** Today's usage against the plan. */
export function getUsage({ usage, plan }: UsageOperationParts): AnyOperation {
  return operation({
    id: 'get_usage',
    method: 'GET',
    path: '/usage',
    tool: 'get_usage',
    scope: 'read',
    withinAccounts: true,
    group: 'usage',
    summary: "Get today's usage",
    description:
      "Today's sends and new contacts (UTC day) against the plan's caps. Look before many sends, and after a " +
      '`daily_send_cap` or `new_contact_cap`. A send that failed later still counts. The counters begin anew at ' +
      'midnight UTC.',
    hints: { readOnly: true, destructive: false, idempotent: true },
    params: null,
    query: null,
    body: null,
    answers: { 200: UsageSchema },
    errors: [],
    examples: [
      {
        summary: 'One account, one message',
        answer: {
          status: 200,
          body: {
            plan: 'growth',
            status: 'active',
            day: '2026-01-31',
            sends: 1,
            sends_cap: 2000,
            new_contacts: 1,
            new_contacts_cap: 400,
            accounts_total: 1,
            accounts_connected: 1,
            accounts_cap: 10,
          },
        },
      },
    ],
    async handler({ caller }) {
      const used = await usage(caller);
      const caps = plan(caller.plan);
      return {
        status: 200,
        body: {
          plan: caller.plan,
          status: caller.status,
          day: used.day,
          sends: used.sends,
          sends_cap: caps.sends_cap,
          new_contacts: used.newContacts,
          new_contacts_cap: caps.new_contacts_cap,
          accounts_total: used.accountsTotal,
          accounts_connected: used.accountsConnected,
          accounts_cap: caps.accounts_cap,
        },
      };
    },
  });
}
