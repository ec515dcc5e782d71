import type {
  AccountFacts,
  DayCount,
  SendingAccount,
  SendingTenant,
} from '../../messages/contract.ts';

/** Each fact as SQL spells it, and as this process does: the type knows of every fact that a send is decided on. */
type Spelled<Facts> = {
  readonly [Name in keyof Facts]-?: readonly [
    sql: string,
    spell: (fact: Facts[Name]) => string | number,
  ];
};

const tenantFacts: Spelled<SendingTenant> = {
  id: ['t.id', String],
  mode: ['t.mode', String],
  plan: ['t.plan', String],
  status: ['t.status', String],
  ramp: ['t.ramp', Number],
};

const accountFacts: Spelled<SendingAccount> = {
  id: ['a.id', String],
  tenantId: ['a.tenant_id', String],
  channel: ['a.channel', String],
  status: ['a.status', String],
  linked: ['a.linked', Number],
  rampDayOne: ["ifnull(a.ramp_day_one, '-')", (day) => day ?? '-'],
  sequence: ['a.outbound_sequence', Number],
};

/** A counter that is not there is 0. */
const countFacts = (of: 'd' | 'e'): Spelled<DayCount> => ({
  sends: [`ifnull(${of}.sends, 0)`, Number],
  newContacts: [`ifnull(${of}.new_contacts, 0)`, Number],
});

const facts: {
  readonly [Name in keyof AccountFacts]-?: Name extends 'contactsAt'
    ? string
    : Spelled<NonNullable<AccountFacts[Name]>>;
} = {
  tenant: tenantFacts,
  account: accountFacts,
  tenantCount: countFacts('d'),
  accountCount: countFacts('e'),
  contactsAt: "concat_ws(' ', t.contacts_revision, t.inbound_sequence)",
};

/** All that is known of an account, in one text, with the tables as `counterJoins` names them. MariaDB and MySQL. */
export const factsText = `concat_ws(' ', ${[
  ...[facts.tenant, facts.account, facts.tenantCount, facts.accountCount].flatMap(sqlOf),
  facts.contactsAt,
].join(', ')})`;

/** That text as this process expects it. */
export function textOf(known: AccountFacts | undefined): string {
  if (known === undefined || known.account === null) return '';
  return [
    ...wordsOf(facts.tenant, known.tenant),
    ...wordsOf(facts.account, known.account),
    ...wordsOf(facts.tenantCount, known.tenantCount),
    ...wordsOf(facts.accountCount, known.accountCount),
    known.contactsAt,
  ].join(' ');
}

function sqlOf(spelled: Readonly<Record<string, readonly [sql: string, spell: unknown]>>) {
  return Object.values(spelled).map(([sql]) => sql);
}

function wordsOf<Facts>(spelled: Spelled<Facts>, known: Facts): readonly (string | number)[] {
  const words: (string | number)[] = [];
  for (const name in spelled) words.push(spelled[name][1](known[name]));
  return words;
}
