import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { type Member, runMembers } from '../harness/cluster.ts';
import { overlaps } from '../harness/network-watch.ts';
import type { Teardown } from '../harness/processes.ts';
import { scale, scaled } from '../harness/scale.ts';
import { checkExactly, read } from '../harness/sending.ts';
import { until } from '../harness/story.ts';
import { flowsAgain, pairLines, startTraffic, tallyTries } from '../harness/traffic.ts';

/** Both long enough for a busy machine, seconds: for clients to see a connection close, and for a lease not to end. */
const drainS = 5;
const leaseS = 20;
/** In which a process ends after its drain, and its sessions are elsewhere: long before a lease could end. */
const atOnceMs = 0.4 * leaseS * 1_000;

/** A balancer checks each process in this interval, milliseconds. */
const lookMs = scale < 1 ? 250 : 50;

/** What a client may meet: an answer as ever, or a process that does not listen any more. */
const unremarkable = ['inbound 200', 'inbound closed', 'send 202', 'send closed', 'wait 200'];

// Three processes on a busy machine take their time to start.
t.setTimeout(600_000);

t.test('all processes are replaced one by one, under load', { timeout: 600_000 }, async (t) => {
  const { members, rows } = await runMembers(t, {
    GATEWAY_SHUTDOWN__DRAIN_S: String(drainS),
    GATEWAY_SESSIONS__LEASE_S: String(leaseS),
  });
  const ways = members.map(({ way }) => way);
  const lines = await pairLines(members, scaled(30, 6));
  const ready = watchReadiness(t, members);
  const traffic = await startTraffic(t, members, lines, {
    pauseMs: scale < 1 ? 500 : 200,
    patienceMs: 20_000,
    isOpen: (member) => ready.has(member),
  });
  await flowsAgain('the start', traffic, rows);

  for (let round = 0; round < scaled(5); round += 1) {
    // Two are enough for a small run: what the first gives away, the second gives back.
    for (const member of scale < 1 ? members.slice(0, 2) : members) {
      const held = new Set(member.way.phones());
      const { code, tookMs } = await member.stop();
      const stoppedAt = performance.now();
      t.equal(code, 0, `the ${member.name} ends cleanly`);
      t.ok(tookMs - drainS * 1_000 < atOnceMs, `the ${member.name} ends quickly`);
      const others = ways.filter((way) => way !== member.way);
      await until('the others to have its sessions', async () => {
        const there = new Set(others.flatMap((way) => way.phones()));
        return [...held].every((phone) => there.has(phone)) ? true : undefined;
      });
      const movedMs = performance.now() - stoppedAt;
      t.ok(movedMs < atOnceMs, 'sessions move at once, long before a lease could end');
      const figures = [tookMs, movedMs].map(Math.round);
      t.comment(`${held.size} sessions: stopped in ${figures[0]} ms, moved ${figures[1]} ms later`);
      await member.start();
      await flowsAgain(`the ${member.name} is back`, traffic, rows);
    }
  }

  await traffic.end();
  await traffic.followed(30_000);
  const counts = tallyTries(traffic.tries);
  t.comment(JSON.stringify(counts));
  const remarkable = Object.keys(counts).filter(
    (kind) => ![...unremarkable, 'wait closed'].includes(kind),
  );
  t.same(remarkable, [], 'no request is refused or broken');
  const [any] = members as [Member];
  await checkExactly(t, any.api, rows, traffic.lines, () => read);
  t.same([...traffic.seen].sort(), [...traffic.played].sort(), 'the cursor shows each once');
  t.same(overlaps(ways), [], 'no session is on two processes');
});

/** The members that are ready, as a load balancer knows them. */
function watchReadiness(t: Teardown, members: readonly Member[]): ReadonlySet<Member> {
  const ready = new Set(members);
  const ended = new AbortController();
  t.teardown(async () => ended.abort());
  const watch = async (member: Member): Promise<void> => {
    while (!ended.signal.aborted) {
      if ((await member.probe('/readyz')) === 200) ready.add(member);
      else ready.delete(member);
      await sleep(lookMs);
    }
  };
  for (const member of members) void watch(member);
  return ready;
}
