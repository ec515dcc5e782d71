import { spread } from '../../core/backoff.ts';
import type { Storage } from '../../core/contracts/storage.ts';
import type { GatewayLog } from '../../core/log.ts';
import { Loop } from '../../core/loop.ts';
import type { ForgetInput, MessageLanes } from './lanes.ts';

/** How often messages that nobody will send are searched: often enough for the shortest expiry of a test. */
const slowestMs = 10_000;
const fastestMs = 500;

/** How many accounts one round takes, and how many rows one transaction deletes. */
const accountsAtOnce = 200;
const rowsAtOnce = 1_000;

/** How often what is too old is deleted: often enough for the shortest times of a test. */
const slowestForgettingMs = 60_000;

/** For how long a wait that was not closed stays once it is over; it does not count any more. */
const keptWaitsMs = 60_000;

/** What the upkeep works with. */
export interface UpkeepParts {
  readonly storage: Storage;
  readonly lanes: Pick<MessageLanes, 'expire' | 'forgetKeys' | 'forgetEvents' | 'forgetWaits'>;
  readonly expireMs: number;
  readonly idempotencyMs: number;
  /** How long events are kept, whether or not they were delivered. */
  readonly eventsMs: number;
  readonly log: GatewayLog;
}

/**
 * Starts what has to be done now and then, in every process: fail messages that waited too long, and delete
 * Idempotency-Keys and waits that count no more and old events. Every round is safe beside those of other processes.
 */
export function startUpkeep(parts: UpkeepParts): { stop(): Promise<void> } {
  const { storage, lanes, expireMs, idempotencyMs, eventsMs, log } = parts;
  const stopping = new AbortController();
  const failed = (error: unknown): void => log.warn({ err: error }, 'a round of upkeep failed');
  const every = (ms: number, slowest: number, round: () => Promise<void>): Loop => {
    const usual = Math.max(fastestMs, Math.min(slowest, ms / 10));
    return new Loop(() => spread(usual, 0.2), round, failed);
  };
  const forgetting = (keptMs: number, forget: (input: ForgetInput) => Promise<number>) =>
    every(keptMs, slowestForgettingMs, () => deleteOld(storage, keptMs, forget, stopping.signal));
  const loops = [
    every(expireMs, slowestMs, () => expireMessages(parts)),
    forgetting(idempotencyMs, lanes.forgetKeys),
    forgetting(eventsMs, lanes.forgetEvents),
    forgetting(keptWaitsMs, lanes.forgetWaits),
  ];
  for (const loop of loops) loop.rest();
  return {
    async stop() {
      stopping.abort();
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}

async function expireMessages({ storage, lanes, expireMs }: UpkeepParts): Promise<void> {
  const before = (await storage.now()) - expireMs;
  const accountIds = await storage.read.messages.accountsToExpire(before, accountsAtOnce);
  await Promise.all(accountIds.map((accountId) => lanes.expire(accountId)));
}

async function deleteOld(
  storage: Storage,
  keptMs: number,
  forget: (input: ForgetInput) => Promise<number>,
  stop: AbortSignal,
): Promise<void> {
  const before = (await storage.now()) - keptMs;
  let deleted = rowsAtOnce;
  while (deleted === rowsAtOnce && !stop.aborted) {
    deleted = await forget({ before, limit: rowsAtOnce });
  }
}
