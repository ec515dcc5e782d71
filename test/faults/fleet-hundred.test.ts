import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { type Member, runMembers } from '../harness/cluster.ts';
import { overlaps } from '../harness/network-watch.ts';
import { scaled } from '../harness/scale.ts';
import { checkExactly, read } from '../harness/sending.ts';
import { bodyOf, phoneNumber, sendAccepted, until } from '../harness/story.ts';
import { doneWithin } from '../harness/times.ts';
import { pairLines } from '../harness/traffic.ts';

interface LeaseRow {
  readonly account_id: string;
  readonly owner: string | null;
  readonly fence: number;
}

const count = scaled(100, 12);

// Three processes on a busy machine take their time to start.
t.setTimeout(600_000);

t.test(`${count} accounts on three processes`, { timeout: 600_000 }, async (t) => {
  const { members, rows } = await runMembers(t);
  const ways = members.map(({ way }) => way);
  const lines = await pairLines(members, count);
  const leases = async (): Promise<ReadonlyMap<string, LeaseRow>> => {
    const found = await rows.rows<LeaseRow>('select account_id, owner, fence from leases');
    return new Map(found.map((row) => [row.account_id, row]));
  };
  const connectedNow = async ({ api }: Member): Promise<number> => {
    const list = bodyOf<{ accounts: { status: string }[] }>(await api.get('/accounts'));
    return list.accounts.filter(({ status }) => status === 'connected').length;
  };
  const held = ways.map((way) => way.phones().length);
  t.comment(`sessions: ${held}`);
  t.equal(
    held.reduce((sum, one) => sum + one, 0),
    count,
    'each has a session',
  );

  /** Looks again and again for a phone with two connections. */
  const doubles: string[] = [];
  let looks = 0;
  const looking = setInterval(() => {
    looks += 1;
    const phones = ways.flatMap((way) => way.phones());
    doubles.push(...phones.filter((phone, place) => phones.indexOf(phone) !== place));
  }, 50);
  t.teardown(async () => clearInterval(looking));

  const before = await leases();
  await sleep(4_000);
  t.same(await leases(), before, 'nobody takes what is renewed');

  // The one with the most sessions: heartbeats, by which they are spread, are seconds apart.
  const [dead, ...living] = [...members].sort(
    (one, other) => other.way.phones().length - one.way.phones().length,
  ) as [Member, Member, Member];
  const lost = new Set(dead.way.phones());
  await dead.kill();
  const what = `${lost.size} sessions moved, each is connected again and has sent`;
  const sent = await doneWithin(t, 15_000, what, async () => {
    await until('all to be connected again', async () => {
      const there = new Set(living.flatMap(({ way }) => way.phones()));
      return lines.every(({ phone }) => there.has(phone)) ? true : undefined;
    });
    await until('the list to say so', async () =>
      (await connectedNow(living[0] as Member)) === count ? true : undefined,
    );
    const ids = await Promise.all(
      lines.map(({ account }, place) =>
        sendAccepted((living[place % 2] as Member).api, {
          account_id: account,
          to: { phone: phoneNumber(5000) },
        }),
      ),
    );
    await until('each to have sent', async () => {
      const waiting = await rows.rows("select id from messages where status <> 'read'");
      return waiting.length === 0 ? true : undefined;
    });
    return lines.map((line, place) => ({ ...line, accepted: [ids[place] as string] }));
  });

  const after = await leases();
  const moved = lines.filter(
    ({ account }) => after.get(account)?.owner !== before.get(account)?.owner,
  );
  t.same(new Set(moved.map(({ phone }) => phone)), lost, 'only the sessions of the dead moved');
  const deadOwners = new Set(moved.map(({ account }) => before.get(account)?.owner));
  t.equal(deadOwners.size, 1, 'which were all of one process');
  for (const { account } of lines) {
    t.notOk(deadOwners.has(after.get(account)?.owner), 'which owns none any more');
    const steps = (after.get(account)?.fence ?? 0) - (before.get(account)?.fence ?? 0);
    if (steps !== (moved.some((line) => line.account === account) ? 1 : 0)) {
      t.fail(`the lease of ${account} was taken ${steps} times`);
    }
  }
  await dead.start();
  await sleep(3_000);
  t.same(await leases(), after, 'who comes back takes nothing away');
  clearInterval(looking);
  t.same(doubles, [], `none on two in ${looks} looks`);
  t.same(overlaps(ways), [], 'and none between them');
  await checkExactly(t, dead.api, rows, sent, () => read);
});
