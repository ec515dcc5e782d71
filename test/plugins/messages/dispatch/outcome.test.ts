import t from 'tap';
import { enterOutcome } from '../../../../plugins/messages/dispatch/outcome.ts';
import { receive } from '../../../../plugins/messages/status.ts';
import { dispatched } from '../stored-message.ts';

const id = dispatched.id;

t.test('a try that surely failed is undone: the message was never handed over', async (t) => {
  const returned = enterOutcome(dispatched, { kind: 'returned', id }, 1, 2_000);
  t.match(returned?.message, { dispatchedAt: null, dispatchFence: null, attempts: 0 });
  const error = 'not_on_network: nobody has this number';
  const failed = enterOutcome(dispatched, { kind: 'failed', id, error }, 1, 2_000);
  t.match(failed?.message, { status: 'failed', error });
});

t.test('a try that surely failed says nothing of an earlier one without an answer', async (t) => {
  const again = { ...dispatched, attempts: 2 };
  const returned = enterOutcome(again, { kind: 'returned', id }, 1, 2_000)?.message ?? again;
  t.match(returned, { dispatchedAt: dispatched.dispatchedAt, dispatchFence: null, attempts: 1 });
  const error = 'media_unavailable: the server answered 404';
  const failed = enterOutcome(again, { kind: 'failed', id, error }, 1, 2_000);
  t.match(failed?.message, { status: 'failed', error });

  const receipt = { status: 'delivered', error: null, at: 1_800 } as const;
  const shown = receive(returned, receipt)?.message ?? returned;
  t.equal(shown.deliveredAt, 1_800, 'the receipt of the earlier try is kept');
  const late = enterOutcome({ ...shown, attempts: 2 }, { kind: 'failed', id, error }, 1, 2_000);
  t.match(late?.message, { status: 'delivered', error: null });
});
