import t from 'tap';
import { enterOutcome } from '../../../../plugins/messages/dispatch/outcome.ts';
import { receive } from '../../../../plugins/messages/status.ts';
import { dispatched } from '../stored-message.ts';

const id = dispatched.id;
const cause = 'flood_wait: the network wants a pause';

t.test('a try that surely failed is undone: the message was never handed over', async (t) => {
  const returned = enterOutcome(dispatched, { kind: 'returned', id, cause }, 1, 2_000);
  t.match(returned?.message, { dispatchedAt: null, dispatchFence: null, attempts: 0 });
  t.match(returned?.message, { status: 'queued', error: cause, failedAt: null });
  const error = 'not_on_network: nobody has this number';
  const failed = enterOutcome(dispatched, { kind: 'failed', id, error }, 1, 2_000);
  t.match(failed?.message, { status: 'failed', error });
});

t.test('a try that surely failed says nothing of an earlier one without an answer', async (t) => {
  const again = { ...dispatched, attempts: 2 };
  const returned = enterOutcome(again, { kind: 'returned', id, cause }, 1, 2_000)?.message ?? again;
  t.match(returned, { dispatchedAt: dispatched.dispatchedAt, dispatchFence: null, attempts: 1 });
  const error = 'media_unavailable: the server answered 404';
  const ended = (message: typeof dispatched, why: string) =>
    enterOutcome(message, { kind: 'failed', id, error: why }, 1, 2_000)?.message.error;
  for (const why of [error, 'logged_out: the session ended', 'not_sent: could not be encrypted']) {
    const said = ended(again, why) ?? '';
    t.match(said, /^delivery_uncertain: .*it may have arrived/, why);
    t.ok(said.endsWith(` (${why})`), said);
    t.equal(ended(dispatched, why), why, 'the only try');
    t.equal(ended({ ...returned, attempts: 1 }, why), why, 'after tries that were undone');
  }
  const refused = 'no_such_number: gone';
  t.equal(ended(again, refused), refused, 'the network itself answered the repeat');

  const receipt = { status: 'delivered', error: null, at: 1_800 } as const;
  const shown = receive(returned, receipt)?.message ?? returned;
  t.equal(shown.deliveredAt, 1_800, 'the receipt of the earlier try is kept');
  const late = enterOutcome({ ...shown, attempts: 2 }, { kind: 'failed', id, error }, 1, 2_000);
  t.match(late?.message, { status: 'delivered', error: null });
});

t.test(
  'why a try came to nothing is kept until another answer, and never for a receipt',
  async (t) => {
    const returned = (message: typeof dispatched, why: string | null) =>
      enterOutcome(message, { kind: 'returned', id, cause: why }, 1, 2_000)?.message ?? message;
    const waiting = returned(dispatched, cause);
    const goes = { ...waiting, dispatchedAt: 2_500, attempts: 1, dispatchFence: 1 };
    t.equal(returned(goes, null).error, cause, 'a try that was never made changes nothing');
    const sent = { kind: 'sent', id, networkId: 'n1', at: 3_000 } as const;
    t.match(enterOutcome(goes, sent, 1, 3_000)?.message, { status: 'sent', error: null });
    const shown = receive(goes, { status: 'read', error: null, at: 2_800 })?.message ?? goes;
    const { message, raised } = enterOutcome(shown, sent, 1, 3_000) ?? {};
    t.match(message, { status: 'read', error: null, failedAt: null });
    t.same(
      raised?.map(({ status }) => status),
      ['sent', 'read'],
    );

    const error = 'no_such_number: gone';
    const refused = receive(goes, { status: 'failed', error, at: 2_800 })?.message ?? goes;
    t.match(returned({ ...refused, attempts: 2 }, cause), { error, failedAt: 2_800 });
  },
);
