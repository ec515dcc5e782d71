import t from 'tap';
import { Pairing } from '../../../../plugins/accounts/session/pairing.ts';

t.test('a pairing notifies who waits, and counts wrong values', async (t) => {
  const request = { method: 'code', importContacts: false, importHistory: false };
  const pairing = new Pairing(request, 0);
  const never = new AbortController().signal;
  const waiting = pairing.next(never);
  const ask = { type: 'ask', field: 'code' } as const;
  pairing.take({ type: 'step', step: ask });
  t.same(await waiting, { type: 'step', step: ask });
  t.same(await pairing.next(never), { type: 'step', step: ask }, 'the step there is');
  t.same(
    [1, 2, 3, 4].map(() => pairing.wrongValue()),
    [false, false, false, false],
  );
  pairing.take({ type: 'step', step: ask });
  t.equal(pairing.wrongValue(), true, 'the same question again gives no more tries');
  pairing.take({ type: 'step', step: { type: 'ask', field: 'password' } });
  t.equal(pairing.wrongValue(), false, 'another question does');
  pairing.take({ type: 'lost' });
  t.equal(pairing.step, null);
  t.same(await pairing.next(AbortSignal.abort()), { type: 'over' });
});
