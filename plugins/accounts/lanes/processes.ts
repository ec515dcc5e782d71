import type { Lane } from '../../../core/contracts/storage.ts';
import type { ProcessRow } from '../tables/processes.ts';

/** Between two heartbeats, milliseconds. */
export const beatMs = 1_000;

/** How long after its last heartbeat a process counts as dead. */
export const deadAfterMs = 8_000;

/** Rows of dead processes are deleted after this. */
const forgottenAfterMs = 60_000;

/** Stores this process's heartbeat by the database's clock. */
export const beatLane: Lane<Omit<ProcessRow, 'seenAt'>, null> = {
  name: 'processes.beat',
  locks: () => [],
  run: async (unit, inputs) => {
    await unit.processes.beat(inputs.map((input) => ({ ...input, seenAt: unit.now })));
    await unit.processes.removeUnseenSince(unit.now - forgottenAfterMs);
    return inputs.map(() => null);
  },
};

/** Forgets a process that stops, and frees the leases that it could not give away. */
export const goneLane: Lane<string, null> = {
  name: 'processes.gone',
  locks: () => [],
  run: async (unit, inputs) => {
    await unit.leases.expire(inputs);
    await unit.processes.remove(inputs);
    return inputs.map(() => null);
  },
};
