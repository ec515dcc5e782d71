import type { Storage } from '../../core/contracts/storage.ts';
import type { GatewayLog } from '../../core/log.ts';
import { Loop } from '../../core/loop.ts';
import { pacedSteps } from '../../core/paced-steps.ts';
import { pruneLane, roundPause, startPruning } from '../../core/pruning.ts';
import { startRetention } from './retention.ts';

/** The longest usual time between two searches for messages that nobody will send. */
const slowestMs = 10_000;

/** How many accounts one round takes. */
const accountsAtOnce = 200;

/** For how long a wait that was not closed stays once it is over; it does not count any more. */
const keptWaitsMs = 60_000;

/** Deletes expired Idempotency-Keys. */
const pruneKeys = pruneLane('messages.prune-keys', ({ idempotency }, { before, limit }) =>
  idempotency.deleteBefore(before, limit),
);

/** Deletes waits that were over before a moment, and whose process did not close them. */
export const pruneWaits = pruneLane('messages.prune-waits', ({ waits }, { before, limit }) =>
  waits.deleteOver(before, limit),
);

/** Dependencies of the upkeep. */
export interface UpkeepParts {
  readonly storage: Storage;
  /** Fails some of an account's messages that nobody will send; answers whether there may be more. */
  expire(accountId: string): Promise<boolean>;
  readonly expireMs: number;
  readonly idempotencyMs: number;
  /** How long messages are kept; 0: for ever. */
  readonly keptMs: number;
  /** Deletes the files of deleted messages. */
  sweepMedia(): void;
  readonly log: GatewayLog;
}

/**
 * Starts what has to be done now and then, in every process: fail messages that waited too long, and delete
 * old messages, and Idempotency-Keys and waits that count no more. Every round is safe beside those of other processes.
 */
export function startMessageUpkeep(parts: UpkeepParts): { stop(): Promise<void> } {
  const { storage, expireMs, idempotencyMs, log } = parts;
  const stopping = new AbortController();
  const expiring = new Loop(
    () => roundPause(expireMs, slowestMs),
    () => expireMessages(parts, stopping.signal),
    (error) => log.warn({ err: error }, 'expired messages could not be failed'),
  );
  expiring.rest();
  const running = [
    expiring,
    startPruning(pruneKeys, { storage, keptMs: idempotencyMs, log }),
    startPruning(pruneWaits, { storage, keptMs: keptWaitsMs, log }),
    ...(parts.keptMs > 0 ? [startRetention(parts)] : []),
  ];
  return {
    async stop() {
      stopping.abort();
      await Promise.all(running.map((one) => one.stop()));
    },
  };
}

async function expireMessages(
  { storage, expire, expireMs }: UpkeepParts,
  signal: AbortSignal,
): Promise<void> {
  const before = (await storage.now()) - expireMs;
  const accountIds = await storage.read.queuedMessages.accountsToExpire(before, accountsAtOnce);
  await Promise.all(accountIds.map((accountId) => pacedSteps(() => expire(accountId), signal)));
}
