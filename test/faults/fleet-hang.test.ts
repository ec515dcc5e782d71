import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { type Member, runMembers } from '../harness/cluster.ts';
import { scale, scaled } from '../harness/scale.ts';
import { checkExactly, read } from '../harness/sending.ts';
import { bodyOf, pair, phoneNumber, sendAccepted, until, untilMessage } from '../harness/story.ts';
import { flowsAgain, pairLines, startTraffic } from '../harness/traffic.ts';

/** Beside other tests whoever took over must not lose its own lease: each fence rises by one. */
const leaseS = scale < 1 ? '6' : '3';

// Three processes on a busy machine take their time to start.
t.setTimeout(600_000);

t.test('a process hangs longer than its lease and goes on', { timeout: 600_000 }, async (t) => {
  const { members, rows } = await runMembers(t, { GATEWAY_SESSIONS__LEASE_S: leaseS });
  const lines = await pairLines(members, scaled(30, 6));
  const [first] = members as [Member, Member, Member];
  let hanging: Member = first;
  const traffic = await startTraffic(t, members, lines, {
    pauseMs: scale < 1 ? 500 : 150,
    patienceMs: 20_000,
    // The requests go to the others: it is the sessions of the hanging one that matter.
    isOpen: (member) => member !== hanging,
  });
  await flowsAgain('the start', traffic, rows);

  for (let round = 0; round < scaled(5); round += 1) {
    hanging = [...members].sort(
      (one, other) => other.way.phones().length - one.way.phones().length,
    )[0] as Member;
    const others = members.filter((member) => member !== hanging);
    // What was asked of it is answered, so that nobody waits for it in vain.
    await sleep(2_000);
    const phones = new Set(hanging.way.phones());
    const held = lines.filter(({ phone }) => phones.has(phone));
    const marks = held.map(() => '?').join();
    const accounts = held.map(({ account }) => account);
    const leases = () =>
      rows.rows<{ account_id: string; owner: string; fence: number }>(
        `select account_id, owner, fence from leases where account_id in (${marks}) order by account_id`,
        accounts,
      );
    t.ok(held.length > 0, 'it holds sessions');
    const before = await leases();
    /** What it had written under its own fences, and what it may not touch any more. */
    const itsRows = async () => ({
      dispatched: await rows.rows(
        `select m.id from messages m join (${before.map(() => 'select ? as account_id, ? as fence').join(' union all ')}) f
         on f.account_id = m.account_id and f.fence = m.dispatch_fence order by m.id`,
        before.flatMap(({ account_id, fence }) => [account_id, fence]),
      ),
      credentials: await rows.rows(
        `select account_id, name, value from credentials where account_id in (${marks}) order by account_id, name`,
        accounts,
      ),
      accounts: await rows.rows(
        `select id, status, reason, linked, connected_at, removed_at from accounts where id in (${marks}) order by id`,
        accounts,
      ),
    });

    await hanging.freeze();
    const frozenAt = performance.now();
    await until('the others to have its sessions', async () => {
      const there = new Set(others.flatMap(({ way }) => way.phones()));
      return held.every(({ phone }) => there.has(phone)) ? true : undefined;
    });
    t.comment(`${held.length} sessions taken after ${Math.round(performance.now() - frozenAt)} ms`);
    await flowsAgain('others took over', traffic, rows);
    const taken = await leases();
    for (const [place, { owner, fence }] of taken.entries()) {
      t.not(owner, before[place]?.owner, 'another process owns the lease');
      t.equal(fence, (before[place]?.fence ?? 0) + 1, 'under the next fence');
    }
    const rowsBefore = await itsRows();
    const heard = hanging.way.said.length;

    hanging.thaw();
    t.equal(await hanging.probe('/healthz'), 200, 'it answers again');
    await flowsAgain('it goes on', traffic, rows);
    await sleep(5_000);
    const said = hanging.way.said.slice(heard).filter(({ type }) => type !== 'gone');
    t.same(said, [], 'not a byte of it reached the network');
    t.same(await itsRows(), rowsBefore, 'it wrote no row');
    t.same(await leases(), taken, 'it took no lease back');
    const events = await rows.rows(
      `select type from events where type = 'account.disconnected' and subject in (${marks})`,
      accounts,
    );
    t.same(events, [], 'no account was logged out or replaced');

    t.equal(await hanging.probe('/readyz'), 200, 'it is ready');
    const line = held[0] as (typeof held)[number];
    // A number of its own, as the traffic counts what its lines send.
    const phone = phoneNumber(700 + round);
    const account = await pair(hanging.api, phone);
    const id = await sendAccepted(hanging.api, {
      account_id: account,
      to: { phone: phoneNumber(999) },
    });
    await untilMessage(hanging.api, id, 'read');
    const status = `/channels/msgapp-web/connections/${line.phone}/status`;
    t.match(bodyOf(await hanging.api.get(status)), { status: 'connected' });
  }

  await traffic.end();
  await traffic.followed(30_000);
  await checkExactly(t, first.api, rows, traffic.lines, () => read);
  t.same([...traffic.seen].sort(), [...traffic.played].sort(), 'the cursor shows each once');
});
