import type { Storage } from '../../core/contracts/storage.ts';
import type { ClusterProcess } from '../cluster/contract.ts';

/** Finds the living processes that host sessions, by their heartbeats. */
export async function sessionHosts(
  storage: Pick<Storage, 'now' | 'read'>,
): Promise<readonly ClusterProcess[]> {
  const living = await storage.read.processes.living(await storage.now());
  return living.filter(({ roles }) => roles.includes('sessions'));
}
