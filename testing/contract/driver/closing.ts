import type { Test } from 'tap';
import type { Bench } from './bench.ts';

/** Silence after `close`, and sessions side by side. */
export async function closing(t: Test, bench: Bench): Promise<void> {
  const { world } = bench;

  await bench.clause(
    t,
    'close is silent: no byte, no event, no acknowledgement',
    false,
    async (t) => {
      const opened = await bench.linked();
      const { account, port, session } = opened;
      let keep: () => void = () => undefined;
      const kept = new Promise<void>((resolve) => {
        keep = resolve;
      });
      port.onEmit = ({ type }) => (type === 'message' ? kept : Promise.resolve());
      const from = await world.contact(account, 1);
      const networkId = await world.write(account, { from, name: 'Ada', text: 'unacknowledged' });
      const offered = await port.message();
      await bench.settled(opened);
      const { bytes } = world.traffic();
      const events = port.events.length;
      t.equal(session.close(), undefined);
      keep();
      session.close();
      await world.write(account, { from, name: 'Ada', text: 'unheard' });
      await bench.quiet();
      t.equal(world.traffic().bytes, bytes);
      t.equal(port.events.length, events);
      if (bench.nothingKept) return;
      const later = await bench.resumed(opened);
      t.equal((await later.port.message()).networkId, networkId ?? offered.networkId);
      t.equal((await later.port.message()).text, 'unheard');
    },
  );

  await bench.clause(t, 'close in the middle of linking and of resuming', false, async (t) => {
    const linking = await bench.open();
    const underWay = linking.session.link({
      method: bench.usualMethod,
      importContacts: false,
      importHistory: false,
    });
    linking.session.close();
    const steps = linking.port.events.length;
    await t.resolves(underWay);
    const resuming = await bench.reopened(await bench.linked());
    const resumed = resuming.session.resume();
    resuming.session.close();
    const states = resuming.port.events.length;
    await t.resolves(resumed);
    await bench.quiet();
    t.same(linking.port.events.slice(steps), []);
    t.same(resuming.port.events.slice(states), []);
    await t.resolves(resuming.session.resume(), 'a closed session stays closed');
    await bench.quiet();
    t.same(resuming.port.events.slice(states), []);
  });

  await bench.clause(t, 'sessions side by side do not know each other', false, async (t) => {
    const [one, other] = [await bench.linked(), await bench.linked()];
    const from = await world.contact(other.account, 1);
    await world.write(other.account, { from, name: 'Ada', text: 'for the other' });
    await other.port.message();
    one.session.close();
    if (!bench.noRemoteLink) await world.unlink(one.account);
    const message = await bench.message(other.account, 'msg_side_by_side');
    await other.session.send(message, AbortSignal.timeout(10_000));
    t.equal((await world.shown(other.account)).length, 1);
    t.same(await world.shown(one.account), []);
    await bench.quiet();
    t.notOk(one.port.events.some(({ type }) => type === 'message'));
    t.notOk(other.port.events.some((event) => 'state' in event && event.state !== 'connected'));
  });
}
