import t from 'tap';
import {
  answered,
  failed,
  givenUp,
  receive,
  takenByNetworkAt,
} from '../../../plugins/messages/status.ts';
import type { StoredMessage } from '../../../plugins/messages/tables/message-rows.ts';
import { dispatched, queued } from './stored-message.ts';

const sent: StoredMessage = { ...dispatched, status: 'sent', sentAt: 2000 };
const delivered: StoredMessage = { ...sent, status: 'delivered', deliveredAt: 3000 };
const read: StoredMessage = { ...delivered, status: 'read', readAt: 4000 };
const lost: StoredMessage = { ...sent, status: 'failed', error: 'x: y', failedAt: 3000 };
const imported: StoredMessage = { ...queued, status: 'sent', sequence: null, sentAt: 2000 };
const inbound: StoredMessage = { ...queued, direction: 'inbound', status: 'received' };

/** Status, sent, delivered, read, failed, raised. */
type Cell = readonly [string, number | null, number | null, number | null, number | null, string];

function shown(step: ReturnType<typeof receive>): Cell | null {
  if (step === null) return null;
  const { status, sentAt, deliveredAt, readAt, failedAt } = step.message;
  const raised = step.raised.map((one) => one.status).join(' ');
  return [status, sentAt, deliveredAt, readAt, failedAt, raised];
}

type Reported = 'sent' | 'delivered' | 'read' | 'failed';
const table: readonly (readonly [string, StoredMessage, Record<Reported, Cell | null>])[] = [
  ['queued', queued, { sent: null, delivered: null, read: null, failed: null }],
  [
    'dispatched, not answered: the receipt waits',
    dispatched,
    {
      sent: ['queued', 9000, null, null, null, ''],
      delivered: ['queued', null, 9000, null, null, ''],
      read: ['queued', null, null, 9000, null, ''],
      failed: ['queued', null, null, null, 9000, ''],
    },
  ],
  [
    'sent',
    sent,
    {
      sent: null,
      delivered: ['delivered', 2000, 9000, null, null, 'delivered'],
      read: ['read', 2000, 9000, 9000, null, 'read'],
      failed: ['failed', 2000, null, null, 9000, 'failed'],
    },
  ],
  [
    'delivered',
    delivered,
    { sent: null, delivered: null, read: ['read', 2000, 3000, 9000, null, 'read'], failed: null },
  ],
  ['read', read, { sent: null, delivered: null, read: null, failed: null }],
  ['failed', lost, { sent: null, delivered: null, read: null, failed: null }],
  [
    'imported: nothing is raised',
    imported,
    {
      sent: null,
      delivered: ['delivered', 2000, 9000, null, null, ''],
      read: ['read', 2000, 9000, 9000, null, ''],
      failed: null,
    },
  ],
  ['received', inbound, { sent: null, delivered: null, read: null, failed: null }],
];

t.test('every receipt in every status', async (t) => {
  for (const [name, message, cells] of table) {
    for (const status of ['sent', 'delivered', 'read', 'failed'] as const) {
      const step = receive(message, { status, error: 'no_such_number: gone', at: 9000 });
      t.same(shown(step), cells[status], `${name}: ${status}`);
      if (step?.message.status === 'failed') {
        t.equal(step.message.error, 'no_such_number: gone');
      }
    }
  }
});

t.test('receipts that wait take effect with the answer, in order', async (t) => {
  const keep = (message: StoredMessage, ...statuses: Reported[]): StoredMessage =>
    statuses.reduce((current, status, index) => {
      const step = receive(current, { status, error: null, at: 5000 + index });
      return step?.message ?? current;
    }, message);
  t.same(shown(answered(dispatched, 'n1', 2000)), ['sent', 2000, null, null, null, 'sent']);
  t.same(shown(answered(keep(dispatched, 'delivered', 'read', 'read'), 'n1', 2000)), [
    'read',
    2000,
    5000,
    5001,
    null,
    'sent delivered read',
  ]);
  t.same(
    shown(answered(keep(dispatched, 'read'), 'n1', 2000)),
    ['read', 2000, 5000, 5000, null, 'sent read'],
    'a skipped step sets its time and raises nothing',
  );
  t.same(shown(answered(keep(dispatched, 'failed'), 'n1', 2000)), [
    'failed',
    2000,
    null,
    null,
    5000,
    'sent failed',
  ]);
  const step = answered(keep(dispatched, 'delivered'), 'n1', 2000);
  t.same(
    step?.raised.map((one) => [one.status, one.message.status]),
    [
      ['sent', 'sent'],
      ['delivered', 'delivered'],
    ],
    'each event shows the message as it was then',
  );
  t.equal(takenByNetworkAt(dispatched), null);
  t.equal(takenByNetworkAt(keep(dispatched, 'read')), 5000);
  t.equal(answered(sent, 'n1', 2000), null, 'a repeated answer changes nothing');
  t.equal(answered(lost, 'n1', 2000), null);
});

t.test('a clock of the network that lags makes no message older than its acceptance', async (t) => {
  t.equal(answered(dispatched, 'n1', 10)?.message.sentAt, 1000);
  t.equal(receive(sent, { status: 'read', error: null, at: 10 })?.message.readAt, 2000);
});

t.test('failing', async (t) => {
  t.same(shown(failed(queued, 'expired: too late', 7000)), [
    'failed',
    null,
    null,
    null,
    7000,
    'failed',
  ]);
  for (const message of [sent, delivered, read, lost, inbound]) {
    t.equal(failed(message, 'x: y', 7000), null, message.status);
  }
});

t.test('what is given up says why its last try ended', async (t) => {
  const ends = (message: StoredMessage) =>
    givenUp(message, 'removed: gone', 7000, 'removed')?.message;
  t.equal(ends(queued)?.error, 'removed: gone');
  t.match(ends(dispatched)?.error, /^delivery_uncertain: .* \(removed\)$/);
  const returned = { ...dispatched, dispatchFence: null, error: 'flood_wait: a pause' };
  t.match(ends(returned)?.error, /^delivery_uncertain: .* \(flood_wait: a pause\)$/);
  const taken = { ...returned, deliveredAt: 5000 };
  t.match(ends(taken), { status: 'delivered', error: null });
});

t.test('what a receipt says of a failure begins with its code', async (t) => {
  const said = new Map([
    [null, 'undeliverable: the network could not deliver the message'],
    [' ', 'undeliverable: the network could not deliver the message'],
    ['no_such_number', 'no_such_number: the network could not deliver the message'],
    ['no_such_number: gone', 'no_such_number: gone'],
    ['Nobody there: try later', 'undeliverable: Nobody there: try later'],
  ]);
  for (const [error, sentence] of said) {
    t.equal(receive(sent, { status: 'failed', error, at: 9000 })?.message.error, sentence);
  }
});
