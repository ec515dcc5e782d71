import { day, id, integer, type Table, words, zero } from '../../../core/contracts/schema.ts';

/** The tables of what is counted against the limits and refused by them. */
export const limitTableSchema: readonly Table[] = [
  {
    name: 'usage_counters',
    columns: {
      tenant_id: id,
      day,
      account_id: { ...id, initial: '' },
      sends: zero,
      new_contacts: zero,
    },
    primary: ['tenant_id', 'day', 'account_id'],
    indexes: [['day']],
  },
  {
    name: 'refusal_counters',
    columns: {
      tenant_id: id,
      day,
      account_id: { ...id, initial: '' },
      code: words(60),
      refusals: zero,
    },
    primary: ['tenant_id', 'day', 'account_id', 'code'],
    indexes: [['day']],
  },
  {
    name: 'limit_notices',
    columns: { tenant_id: id, day, reason: words(40) },
    primary: ['tenant_id', 'day', 'reason'],
    indexes: [['day']],
  },
  {
    name: 'opener_refusals',
    columns: { account_id: id, at: integer, refusals: zero },
    primary: ['account_id', 'at'],
  },
];
