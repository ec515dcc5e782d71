import t from 'tap';
import {
  type DispatchSnapshot,
  decideDispatch,
} from '../../../../plugins/messages/dispatch/decide.ts';
import { dispatched, queued } from '../stored-message.ts';

const contact = {
  ...{ private: false, doNotDisturb: false },
  ...{ phone: '+12025550123', networkId: null },
};
const snapshot: DispatchSnapshot = {
  now: 3_600_000 + queued.createdAt,
  fence: 2,
  deduplicates: true,
  unanswered: null,
  closedToStrangers: null,
  stranger: false,
  expireMs: 3_600_000,
};

t.test(
  'a message that expires, or may have arrived, says why its last try came to nothing',
  async (t) => {
    const cause = 'flood_wait: the network wants a pause';
    const ends = (message: typeof queued, changes: Partial<DispatchSnapshot>) => {
      const decided = decideDispatch(message, contact, { ...snapshot, ...changes });
      return decided !== null && 'end' in decided ? decided.end.message.error : null;
    };
    t.equal(ends(queued, {}), 'expired: the message waited 1 h without being sent');
    t.equal(
      ends({ ...queued, error: cause }, {}),
      `expired: the message waited 1 h without being sent (${cause})`,
    );
    t.match(
      ends(dispatched, { deduplicates: false, unanswered: cause }),
      /^delivery_uncertain: .* \(flood_wait: /,
    );
    const again = { ...dispatched, attempts: 2, error: cause };
    t.match(
      ends({ ...again, dispatchFence: null }, { unanswered: 'no_answer: silence' }),
      /^delivery_uncertain: .* \(flood_wait: /,
      'the last try counts',
    );
    t.match(ends(again, {}), /arrived$/, 'nobody knows how a try ended that another session made');
    const inTime = { now: queued.createdAt };
    t.equal(ends({ ...queued, error: cause }, inTime), null, 'in time it goes out');
  },
);

t.test('a message that was handed over is not repeated once it is too old', async (t) => {
  const decide = (changes: Partial<DispatchSnapshot>, message = dispatched) =>
    decideDispatch(message, contact, { ...snapshot, ...changes });
  const inTime = { now: snapshot.now - 1 };
  t.match(decide(inTime), { go: { attempts: 2 } }, 'in time the network drops the repeat');
  const uncertain = { end: { message: { status: 'failed', error: /^delivery_uncertain: / } } };
  t.match(decide({}), uncertain, 'by another session');
  t.match(
    decide({ fence: 1, unanswered: 'no_answer: silence' }),
    uncertain,
    'by the same one after a try',
  );
  t.match(decide({ fence: 1 }), { go: { attempts: 1 } }, 'a try that was never made is no repeat');
  const taken = { ...dispatched, sentAt: 2_000 };
  t.match(decide({}, taken), { end: { message: { status: 'sent', sentAt: 2_000 } } });
});

t.test(
  'a message to a contact without an address, as an erased one, is not repeated',
  async (t) => {
    const erased = { ...contact, private: true, phone: null };
    for (const changes of [{}, { fence: 1 }, { fence: 1, unanswered: 'no_answer: silence' }]) {
      const inTime = { ...snapshot, ...changes, now: queued.createdAt };
      t.match(decideDispatch(dispatched, erased, inTime), {
        end: { message: { status: 'failed', error: /^delivery_uncertain: / } },
      });
      const known = { ...erased, networkId: 'someone' };
      t.match(decideDispatch(dispatched, known, inTime), { go: { status: 'queued' } });
    }
  },
);
