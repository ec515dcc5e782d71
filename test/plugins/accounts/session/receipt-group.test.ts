import t from 'tap';
import type { ReceiptEvent } from '../../../../core/contracts/driver.ts';
import { ReceiptGroup } from '../../../../plugins/accounts/session/receipt-group.ts';

t.test('receipts that fail together are tried alone, all at once and in their order', async (t) => {
  const group = new ReceiptGroup();
  const receipt = (networkId: string): ReceiptEvent => {
    const facts = { status: 'read', error: null, at: 1 } as const;
    return { type: 'receipt', reference: null, networkId, ...facts };
  };
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
