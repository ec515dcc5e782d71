import { giveBackLane } from '../lanes/leases.ts';
import { sessionHosts } from '../session-hosts.ts';
import type { SessionEnvironment } from './environment.ts';
import type { ParkedLeases } from './parked-leases.ts';

/**
 * Releases the parked leases whose time is over, if another process has room for a session.
 * @param taking runs work during which a renewal releases no lease as one without a session
 */
export async function leaveParked(
  parked: ParkedLeases,
  { storage, broker }: Pick<SessionEnvironment, 'storage' | 'broker'>,
  taking: (work: () => Promise<unknown>) => Promise<unknown>,
): Promise<void> {
  const { due } = parked;
  if (due.length === 0) return;
  const hosts = await sessionHosts(storage);
  if (!hosts.some((one) => one.id !== broker.processId && one.sessions < one.capacity)) return;
  // Before the release: the next claim of this process may be under way already.
  parked.leave(due);
  await taking(() => storage.submit(giveBackLane, { fences: due, how: 'release' }));
  broker.toAll('leases', {});
}

/**
 * Releases the parked lease of an account that is to be connected, if there is another process: it may have the driver.
 * No process is notified, and this one claims it no more while the connect may go on: the connect takes the lease.
 * @returns whether it was released
 */
export async function releaseParked(
  parked: ParkedLeases,
  { storage, broker, settings }: Pick<SessionEnvironment, 'storage' | 'broker' | 'settings'>,
  taking: (work: () => Promise<unknown>) => Promise<unknown>,
  accountId: string,
): Promise<boolean> {
  const hosts = await sessionHosts(storage);
  const fence = parked.leases.find(({ id }) => id === accountId);
  if (fence === undefined || hosts.every(({ id }) => id === broker.processId)) return false;
  // Before the release: the next claim of this process may be under way already.
  parked.leaveFor(fence, settings.requestTimeoutMs);
  await taking(() => storage.submit(giveBackLane, { fences: [fence], how: 'release' }));
  return true;
}
