import type { Test } from 'tap';
import type { DriverEvent } from '../../../core/contracts/driver.ts';
import { type Bench, patient, type Skip } from './bench.ts';

/** What outlives a restart of the gateway: a session begins with the stored credentials alone. */
export async function restarting(t: Test, bench: Bench): Promise<void> {
  const { world, capabilities } = bench;

  const repeats: Skip = capabilities.deduplicates ? false : 'deduplicates is false';
  await bench.clause(t, 'a send is repeated after a restart, shown once', repeats, async (t) => {
    const linked = await bench.linked();
    const { account } = linked;
    const shown = async () => (await world.shown(account)).map(({ text }) => text);
    const answered = await bench.message(account, 'msg_answered');
    const { networkId } = await linked.session.send(answered, patient());
    const all = await bench.messages(account, 'under_way');
    await world.treatSends(account, 'hold');
    const held = Promise.allSettled(all.map((one) => linked.session.send(one, patient())));
    await bench.until('messages shown', async () => (await shown()).length > all.length);
    const { session, port } = await bench.restarted(linked);
    await held;
    await world.treatSends(account, 'accept');
    await session.resume();
    await port.state('connected');
    const again = await session.send({ ...answered, attempt: 2 }, patient());
    t.equal(again.networkId, networkId);
    await Promise.all(all.map((one) => session.send({ ...one, attempt: 2 }, patient())));
    t.same((await shown()).sort(), [answered, ...all].map(({ text }) => text).sort());
  });

  for (const when of ['after a restart', 'while away'] as const) {
    await bench.clause(t, `a restriction is lifted ${when}`, bench.noRestrictions, async () => {
      const linked = await bench.linked();
      const { account } = linked;
      await world.restrict(account, 'all');
      const { until } = await linked.port.state('restricted');
      const { session, port } = await bench.reopened(linked);
      if (when === 'while away') await world.lift(account);
      await session.resume();
      if (when === 'after a restart') {
        // Some networks let nobody in who is blocked.
        await port.next('state connected or restricted', isThere);
        await world.lift(account);
      }
      // The gateway itself ends one that has an end.
      if (until === null) await port.state('unrestricted');
      await bench.until('connected', async () => port.atConnected.length > 0);
      await session.send(await bench.message(account, 'msg_after_restriction'), patient());
    });
  }
}

function isThere(event: DriverEvent): event is Extract<DriverEvent, { type: 'state' }> {
  return event.type === 'state' && (event.state === 'connected' || event.state === 'restricted');
}
