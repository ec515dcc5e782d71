import { join } from 'node:path';
import t from 'tap';
import { PhoneMailbox } from '../../../../drivers/simulated/network/mailbox.ts';
import type { SessionNotice } from '../../../../drivers/simulated/network/protocol.ts';
import { NetworkStore } from '../../../../drivers/simulated/network/store.ts';

t.test('what waits for a phone comes in order, whatever the clock is set to', async (t) => {
  const store = new NetworkStore(join(t.testdir(), 'network.sqlite'));
  t.teardown(() => store.close());
  const address = { network: 'ten_a', channel: 'msgapp_web', phone: '+12025550111' };
  const phoneId = store.addPhone(address, '{}');
  const mailbox = new PhoneMailbox(store, phoneId);
  const receipt = (reference: string, at?: number) => {
    const seen = { networkId: reference, status: 'read', error: null, at: 0 } as const;
    mailbox.put({ type: 'receipt', reference, ...seen }, at);
  };
  const clock = Date.now;
  const turnBack = () => {
    Date.now = () => clock() - 3_600_000;
  };
  t.teardown(() => {
    Date.now = clock;
  });
  receipt('before');
  receipt('by time', clock() - 3_600_000);
  turnBack();
  receipt('after');
  const offered: (string | null)[] = [];
  const notify = (notice: SessionNotice) => {
    if (notice.type === 'offer' && notice.event.type === 'receipt') {
      offered.push(notice.event.reference);
    }
  };
  mailbox.open({ notify });
  t.same(offered, ['before', 'by time', 'after']);
  mailbox.close();
  const stored = new PhoneMailbox(store, phoneId);
  stored.open({ notify });
  t.same(offered.slice(3), offered.slice(0, 3), 'after a restart, too');
  stored.close();
});
