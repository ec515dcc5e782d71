import type { Test } from 'tap';
import type { Bench } from './bench.ts';

/** Coming back, being cut off, and leaving. */
export async function resuming(t: Test, bench: Bench): Promise<void> {
  const { world } = bench;

  await bench.clause(t, 'resumes from stored credentials', false, async (t) => {
    const { session, port, account } = await bench.resumed(await bench.linked());
    const sent = await session.send(
      await bench.message(account, 'msg_resumed'),
      AbortSignal.timeout(10_000),
    );
    t.type(sent.networkId, 'string');
    t.notOk(port.events.some(({ type }) => type === 'step'));
  });

  await bench.clause(t, 'without credentials there is nothing to resume', false, async (t) => {
    const { port, session } = await bench.open();
    await session.resume();
    t.match(await port.state('logged_out'), { reason: 'session_lost' });
  });

  for (const [what, reason] of [
    ['unlink', 'logged_out'],
    ['replace', 'replaced'],
  ] as const) {
    await bench.clause(
      t,
      `${what} while connected, and while away`,
      bench.noRemoteLink,
      async (t) => {
        const connected = await bench.linked();
        await world[what](connected.account);
        t.match(await connected.port.state('logged_out'), { reason });
        const away = await bench.reopened(await bench.linked());
        await world[what](away.account);
        await away.session.resume();
        t.match(await away.port.state('logged_out'), { reason });
        await bench.quiet();
        for (const { port } of [connected, away]) {
          t.equal(port.events.filter((event) => event.type === 'state').at(-1), port.events.at(-1));
        }
      },
    );
  }

  await bench.clause(
    t,
    'a broken connection is reported once and left to the gateway',
    false,
    async (t) => {
      const { account, port, session } = await bench.linked();
      await world.drop(account);
      t.type((await port.state('lost')).detail, 'string');
      const before = world.traffic();
      await bench.quiet();
      t.equal(world.traffic().connections, before.connections, 'does not reconnect by itself');
      t.equal(port.events.filter((event) => 'state' in event && event.state === 'lost').length, 1);
      await session.resume();
      await port.state('connected');
    },
  );

  await bench.clause(
    t,
    'logging out ends the link on both sides',
    bench.noRemoteLink,
    async (t) => {
      const { account, port, session } = await bench.linked();
      const kept = new Map(port.credentials.values);
      t.equal(await session.logOut(), 'unlinked');
      session.close();
      const again = await bench.open(account);
      for (const [name, value] of kept) again.port.credentials.values.set(name, value);
      await again.session.resume();
      t.match(await again.port.state('logged_out'), { reason: 'logged_out' });
    },
  );

  await bench.clause(
    t,
    'logging out before resuming, and out of reach',
    bench.noRemoteLink,
    async (t) => {
      const linked = await bench.linked();
      const away = await bench.reopened(linked);
      t.equal(await away.session.logOut(), 'unlinked');
      const again = await bench.reopened(linked);
      await again.session.resume();
      t.match(await again.port.state('logged_out'), { reason: 'logged_out' });
      const cut = await bench.linked();
      await world.setReachable(cut.account, false);
      await cut.port.state('lost');
      t.equal(await cut.session.logOut(), 'still_linked');
      await world.setReachable(cut.account, true);
    },
  );
}
