import t from 'tap';
import type { ReceiptEvent } from '../../../core/contracts/driver.ts';
import { ReceiptGroup } from '../../../plugins/accounts/session/receipt-group.ts';

const receipt = (networkId: string): ReceiptEvent => {
  const facts = { status: 'read', error: null, at: 1 } as const;
  return { type: 'receipt', reference: null, networkId, ...facts };
};

t.test('receipts that fail together are tried alone, all at once and in their order', async (t) => {
  const group = new ReceiptGroup();
  const outcomes = Promise.allSettled(['a', 'bad', 'c'].map((id) => group.add(receipt(id))));
  const begun: (string | null)[] = [];
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const storing = group.store(async (receipts) => {
    if (receipts.length > 1) throw new Error('one of them is bad');
    const [one] = receipts;
    begun.push(one?.networkId ?? null);
    if (begun.length === 3) end();
    await ended;
    if (one?.networkId === 'bad') throw new Error('this one');
  });
  await ended;
  t.same(begun, ['a', 'bad', 'c'], 'none waits for another');
  await storing;
  const statuses = (await outcomes).map(({ status }) => status);
  t.same(statuses, ['fulfilled', 'rejected', 'fulfilled']);
});

t.test('a receipt that is stored later settles by itself', async (t) => {
  const group = new ReceiptGroup();
  const settled: string[] = [];
  const all = ['early', 'late', 'refused'].map(async (id) => {
    await group.add(receipt(id)).catch(() => settled.push('not'));
    settled.push(id);
  });
  let store = (): void => undefined;
  await group.store(async ([, late, refused], later) => {
    if (late === undefined || refused === undefined) return;
    const stored = new Promise<void>((resolve) => {
      store = resolve;
    });
    later(late, stored);
    const no = stored.then(() => Promise.reject(new Error('no')));
    no.catch(() => undefined);
    later(refused, no);
  });
  await all[0];
  t.same(settled, ['early']);
  store();
  await Promise.all(all);
  t.same(settled, ['early', 'late', 'not', 'refused']);
});
