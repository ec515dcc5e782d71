import { mock } from 'node:test';
import t from 'tap';
import type { LeaseKind } from '../../../plugins/cluster/contract.ts';
import { LeaseRenewal } from '../../../plugins/cluster/lease-renewal.ts';
import { log } from '../../fixtures/process.ts';

t.test('an outage that ends within the lease expires no lease', async (t) => {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  t.teardown(() => mock.timers.reset());
  let at = 0;
  const isAway = () => at >= 2_900 && at < 7_100;
  const renewed: number[] = [];
  let failures = 0;
  const expired: number[] = [];
  // As much of the parts as is called.
  const parts = {
    storage: {
      async submit() {
        if (isAway()) {
          failures += 1;
          throw new Error('the database is away');
        }
        renewed.push(at);
        return [];
      },
    },
    ...{ clock: { now: () => at, monotonic: () => at }, log, owner: 'own' },
    ...{ leaseMs: 9_000, isAlone: false, stoodStill: () => undefined },
  } as unknown as ConstructorParameters<typeof LeaseRenewal>[0];
  const renewal = new LeaseRenewal(parts);
  renewal.keep({ held: () => [], expired: () => expired.push(at) } as unknown as LeaseKind);
  await renewal.start();
  while (at < 12_000) {
    at += 50;
    mock.timers.tick(50);
    await new Promise(setImmediate);
  }
  t.ok(failures >= 2, `${failures} renewals failed`);
  t.ok(
    renewed.some((moment) => moment >= 7_100 && moment < 8_000),
    `renewed at ${renewed}`,
  );
  t.same(expired, []);
  const after = renewed.filter((moment) => moment > 7_500);
  t.equal(after.length, 1, 'the usual pause follows a renewal');
  await renewal.stop();
});
