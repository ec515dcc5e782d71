import type { Test } from 'tap';
import type { DriverEvent } from '../../../core/contracts/driver.ts';
import { type Bench, patient } from './bench.ts';

/** What outlives a restart of the gateway: a session begins with the stored credentials alone. */
export async function restarting(t: Test, bench: Bench): Promise<void> {
  const { world } = bench;

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
