import type { Storage } from '../../core/contracts/storage.ts';
import type { GatewayLog } from '../../core/log.ts';
import type { MessageLanes } from './lanes.ts';

/** How often to look for messages that nobody will send: often enough for the shortest expiry of a test. */
const slowestMs = 10_000;
const fastestMs = 500;

/** How many accounts one round takes, and how many idempotency keys one statement deletes. */
const accountsAtOnce = 200;
const keysAtOnce = 1_000;

/** How often expired idempotency keys are deleted. */
const keysEveryMs = 60_000;

/** What the upkeep works with. */
export interface UpkeepParts {
  readonly storage: Storage;
  readonly lanes: Pick<MessageLanes, 'expire' | 'forgetKeys'>;
  readonly expireMs: number;
  readonly idempotencyMs: number;
  readonly log: GatewayLog;
}

/**
 * Starts what has to be done now and then, in every process: fail messages that waited too long, and delete
 * Idempotency-Keys that count no more. Every round is safe beside those of other processes.
 */
export function startUpkeep(parts: UpkeepParts): { stop(): Promise<void> } {
  const everyMs = Math.max(fastestMs, Math.min(slowestMs, parts.expireMs / 10));
  const rounds = [
    repeat(everyMs, () => expireMessages(parts), parts.log),
    repeat(keysEveryMs, () => deleteKeys(parts), parts.log),
  ];
  return {
    async stop() {
      await Promise.all(rounds.map((round) => round.stop()));
    },
  };
}

async function expireMessages({ storage, lanes, expireMs }: UpkeepParts): Promise<void> {
  const before = (await storage.now()) - expireMs;
  const accountIds = await storage.read.messages.accountsToExpire(before, accountsAtOnce);
  await Promise.all(accountIds.map((accountId) => lanes.expire(accountId)));
}

async function deleteKeys({ storage, lanes, idempotencyMs }: UpkeepParts): Promise<void> {
  const before = (await storage.now()) - idempotencyMs;
  for (;;) {
    const deleted = await lanes.forgetKeys({ before, limit: keysAtOnce });
    if (deleted < keysAtOnce) return;
  }
}

/** Runs a task again and again, with a pause after each run; a failure is logged and changes nothing. */
function repeat(everyMs: number, task: () => Promise<void>, log: GatewayLog) {
  let timer: NodeJS.Timeout;
  let running: Promise<void> = Promise.resolve();
  let stopped = false;
  const schedule = (): void => {
    // Processes that started together spread out.
    timer = setTimeout(run, everyMs * (0.8 + Math.random() * 0.4)).unref();
  };
  const run = (): void => {
    running = task()
      .catch((error: unknown) => log.warn({ err: error }, 'a round of upkeep failed'))
      .then(() => {
        if (!stopped) schedule();
      });
  };
  schedule();
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
