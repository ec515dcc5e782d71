import t from 'tap';
import { isUsed, linkLifeMs } from '../../../plugins/accounts/link-rules.ts';
import type { AccountRow } from '../../../plugins/accounts/tables/account-rows.ts';

const madeAt = 1_000_000_000;
const link = { expiresAt: madeAt + linkLifeMs };

/** An account that is being linked, with what the rule reads. */
function account(connectedAt: number | null): AccountRow {
  return { status: 'connecting', linked: false, connectedAt } as AccountRow;
}

t.test('a link is used once the number was connected since it was made', async (t) => {
  t.notOk(isUsed(link, account(null)));
  t.notOk(isUsed(link, account(madeAt - 1)), 'an earlier connection');
  t.ok(isUsed(link, account(madeAt)));
  t.ok(isUsed(link, account(madeAt + linkLifeMs - 1)));
  const ahead = account(madeAt + linkLifeMs);
  t.notOk(isUsed(link, ahead), 'an earlier connection, before the clock was set back');
  t.ok(isUsed(link, { ...ahead, status: 'connected', linked: true }), 'but while it lasts');
});
