import { setTimeout as sleep } from 'node:timers/promises';
import { ask, type LiveAccount, type Subject } from './subject.ts';

/** An operation as a client makes it, again and again. */
export interface TimedOperation {
  readonly name: string;
  /** Makes it for the nth time; answers how long the answer took, milliseconds. */
  time(subject: Subject, n: number): Promise<number>;
}

/** Until a wait that was just begun has surely looked and sleeps, milliseconds. */
const fallAsleepMs = 20;

/** What is timed of each tenant, in this order: what makes work for the background comes last. */
export const operations: readonly TimedOperation[] = [
  get('list, first page', () => '/messages'),
  get('list, in the middle', (subject) => `/messages?before=${middle(subject)}`),
  get('list of an account', (subject) => `/messages?account_id=${busiest(subject).id}`),
  get('list of a direction', () => '/messages?direction=inbound'),
  get('list of both, in the middle', (subject) => {
    const filter = `account_id=${busiest(subject).id}&direction=inbound`;
    return `/messages?${filter}&before=${middle(subject)}`;
  }),
  get('list of a contact', ({ history }, n) => {
    const [, id] = history.contact((n * 7_919) % history.size.contacts);
    return `/messages?contact_id=${id}`;
  }),
  get('search for a word that is nowhere', () => '/messages?q=nowhere'),
  get('conversations', () => '/conversations'),
  get('get', ({ history }, n) => {
    const [, id] = history.message((n * 48_271 * 7) % history.size.messages);
    return `/messages/${id}`;
  }),
  get('contacts, first page', () => '/contacts'),
  get('contacts, in the middle', ({ cursor, history }) => {
    const place = history.contact(history.size.contacts / 2);
    return `/contacts?before=${cursor('list_contacts', place)}`;
  }),
  get('contacts of a phone', ({ history }, n) => {
    const phone = history.contactPhone((n * 7_919) % history.size.contacts);
    return `/contacts?phone=${encodeURIComponent(phone)}`;
  }),
  get('usage', () => '/usage'),
  get('deliveries, in the middle', ({ cursor, delivery, webhookId }) => {
    const before = cursor('list_webhook_deliveries', [webhookId, ...delivery]);
    return `/webhooks/${webhookId}/deliveries?before=${before}`;
  }),
  {
    name: 'wait, nothing new',
    async time(subject) {
      const cursor = await endOf(subject);
      return (await ask(subject, 'GET', `/messages/wait?timeout_s=0&cursor=${cursor}`)).tookMs;
    },
  },
  {
    name: 'wait, from a message to its answer',
    async time(subject, n) {
      const cursor = await endOf(subject);
      const path = `/messages/wait?timeout_s=20&cursor=${cursor}`;
      const waiting = ask<{ messages: readonly unknown[] }>(subject, 'GET', path);
      await sleep(fallAsleepMs);
      const at = performance.now();
      const { history } = subject;
      const from = { phone: history.contactPhone(history.size.contacts - 1) };
      const inbound = { from, text: `Where is my order ${n}?` };
      const writing = ask(
        subject,
        'POST',
        `/sandbox/phones/${busiest(subject).phone}/inbound`,
        inbound,
      );
      const { messages } = (await waiting).body;
      const tookMs = performance.now() - at;
      await writing;
      if (messages.length !== 1) throw new Error(`a wait has found ${messages.length} messages`);
      return tookMs;
    },
  },
  {
    name: 'send',
    async time(subject, n) {
      const { accounts } = subject;
      const account = accounts[n % accounts.length] ?? busiest(subject);
      const { contacts } = account;
      const contact_id = contacts[Math.floor(n / accounts.length) % contacts.length];
      const text = `Your order ${n} is on its way.`;
      const body = { account_id: account.id, to: { contact_id }, text };
      return (await ask(subject, 'POST', '/messages', body)).tookMs;
    },
  },
];

function get(name: string, path: (subject: Subject, n: number) => string): TimedOperation {
  return {
    name,
    time: async (subject, n) => (await ask(subject, 'GET', path(subject, n))).tookMs,
  };
}

function middle({ cursor, history }: Subject): string {
  return cursor('list_messages', history.message(history.size.messages / 2));
}

function busiest({ accounts }: Subject): LiveAccount {
  const [account] = accounts;
  if (account === undefined) throw new Error('there is no account');
  return account;
}

/** A cursor of the wait behind all that has come. */
async function endOf(subject: Subject): Promise<string> {
  const answer = await ask<{ next_cursor: string }>(subject, 'GET', '/messages/wait?timeout_s=0');
  return answer.body.next_cursor;
}
