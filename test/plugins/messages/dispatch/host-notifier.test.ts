import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { Json } from '../../../../core/contracts/json.ts';
import type { AcceptedPosition } from '../../../../plugins/messages/dispatch/dispatchers.ts';
import { HostNotifier } from '../../../../plugins/messages/dispatch/host-notifier.ts';

/** A teller whose own process hosts `here`, and what the others were told. */
function teller(t: Test, ...here: readonly string[]) {
  const told: { accountIds: readonly string[]; message: Json }[] = [];
  const woken: string[] = [];
  const hosts = new HostNotifier(
    { toHosts: (accountIds, message) => void told.push({ accountIds, message }) },
    {
      wake(accountId) {
        if (here.includes(accountId)) woken.push(accountId);
        return here.includes(accountId);
      },
    },
  );
  t.teardown(() => hosts.stop());
  return { hosts, told, woken };
}

const accepted = (places: Readonly<Record<string, readonly number[]>>) =>
  new Map(
    Object.entries(places).map(([accountId, sequences]) => [
      accountId,
      sequences.map(
        (sequence): AcceptedPosition => ({
          ...{ id: `msg_${sequence}`, sequence, contactId: 'con' },
          ...{ mediaUrl: null, intended: null },
        }),
      ),
    ]),
  );

t.test('the first is told at once, what follows together and in order', async (t) => {
  const { hosts, told } = teller(t);
  hosts.notify(accepted({ acc_1: [1] }));
  t.same(told, [
    { accountIds: ['acc_1'], message: { queued: { acc_1: [['msg_1', 1, 'con', null]] } } },
  ]);
  hosts.notify(accepted({ acc_1: [2, 3] }));
  hosts.notify(accepted({ acc_2: [1], acc_1: [4] }));
  t.equal(told.length, 1, 'the rest waits');
  await sleep(40);
  const rest = ['msg_2', 'msg_3', 'msg_4'].map((id, n) => [id, n + 2, 'con', null]);
  const queued = { acc_1: rest, acc_2: [['msg_1', 1, 'con', null]] };
  t.same(told.slice(1), [{ accountIds: ['acc_1', 'acc_2'], message: { queued } }], 'as one');
  await sleep(40);
  hosts.notify(accepted({ acc_1: [5] }));
  t.equal(told.length, 3, 'after a while it goes out at once again');
});

t.test('who is here is woken at once, and nobody else is told', async (t) => {
  const { hosts, told, woken } = teller(t, 'acc_1');
  hosts.notify(accepted({ acc_1: [1] }));
  hosts.notify(accepted({ acc_1: [2] }));
  t.same(woken, ['acc_1', 'acc_1']);
  t.same(told, []);
  hosts.notify(accepted({ acc_1: [3], acc_2: [1] }));
  t.same(told, [
    { accountIds: ['acc_2'], message: { queued: { acc_2: [['msg_1', 1, 'con', null]] } } },
  ]);
});

t.test('many do not wait, and at the end nothing does', async (t) => {
  const { hosts, told } = teller(t);
  const many = Array.from({ length: 200 }, (_, n) => n);
  hosts.notify(accepted({ acc_1: [1] }));
  hosts.notify(accepted({ acc_1: many }));
  t.equal(told.length, 1);
  hosts.notify(accepted({ acc_1: many }));
  t.equal(told.length, 2, 'more than a broker is asked to hold');
  hosts.notify(accepted({ acc_1: [1_000] }));
  t.equal(told.length, 2);
  hosts.stop();
  t.equal(told.length, 3);
  hosts.notify(accepted({ acc_1: [1_001] }));
  hosts.notify(accepted({ acc_1: [1_002] }));
  t.equal(told.length, 5, 'what still comes is told at once');
  await sleep(40);
  t.equal(told.length, 5, 'nothing is told twice');
});
