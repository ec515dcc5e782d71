import t from 'tap';
import {
  type GrantInput,
  granted,
} from '../../../../plugins/webhooks/event-subscriptions/grant.ts';

const now = 1_000_000;
/** What follows the first space only tells two sealings apart. */
const open = (sealed: string) => sealed.split(' ')[0] ?? '';
const input: GrantInput = {
  tenantId: 'ten_1',
  keyId: 'key_1',
  id: 'wh_sub_1',
  type: 'message.received',
  accountIds: null,
  url: 'https://agent.example.com/hook',
  sealedSecret: 'one sealed',
  ttlMs: null,
};
const first = granted(null, input, now, open);

t.test('a grant is for a minute at least and a day at most', async (t) => {
  for (const [ttlMs, left] of [
    [null, 86_400_000],
    [1, 60_000],
    [3_600_000, 3_600_000],
    [864_000_000, 86_400_000],
  ] as const) {
    t.equal(
      granted(null, { ...input, ttlMs }, now, open).grant?.expiresAt,
      now + left,
      String(ttlMs),
    );
  }
});

t.test('the secret before signs for five minutes beside the new one', async (t) => {
  const changed = granted(first, { ...input, sealedSecret: 'two sealed' }, now, open);
  t.match(changed, {
    sealedSecret: 'two sealed',
    previousSecret: { sealed: 'one sealed', until: now + 300_000 },
  });
});

t.test('a secret before that nothing opens is replaced and signs no longer', async (t) => {
  const lost = { ...first, sealedSecret: 'lost' };
  const opening = (sealed: string) => {
    if (sealed === 'lost') throw new Error('its key is not configured');
    return open(sealed);
  };
  const changed = granted(lost, { ...input, sealedSecret: 'two sealed' }, now, opening);
  t.match(changed, { sealedSecret: 'two sealed', previousSecret: null });
  t.throws(() => granted(first, { ...input, sealedSecret: 'lost' }, now, opening));
});

t.test('the same secret, sealed anew, is no change', async (t) => {
  const again = { ...input, sealedSecret: 'one sealed again' };
  t.match(granted(first, again, now, open), {
    sealedSecret: 'one sealed',
    previousSecret: null,
  });
});
