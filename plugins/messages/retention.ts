import type { Lane, Storage } from '../../core/contracts/storage.ts';
import type { GatewayLog } from '../../core/log.ts';
import { Loop } from '../../core/loop.ts';
import { oneByOne } from '../../core/one-by-one.ts';
import { pacedSteps } from '../../core/paced-steps.ts';
import { roundPause } from '../../core/pruning.ts';
import { deleteMessages } from './delete-messages.ts';
import { threadKey } from './tables/threads.ts';

/** Messages that one transaction deletes: its tenant waits for milliseconds. */
const deletedAtOnce = 100;

/** Old messages of one tenant. */
interface OldMessages {
  readonly tenantId: string;
  readonly ids: readonly string[];
}

/**
 * Deletion of old messages with all that hangs on them. Empty threads go too, unless their contact has written. The
 * tenant is locked, as a send relies on the thread that it has found. Answers how many messages were still there.
 */
const retireLane: Lane<OldMessages, number> = {
  name: 'messages.retire',
  maxBatch: 1,
  locks: ({ tenantId }) => [`tenant:${tenantId}`],
  run: oneByOne(async (unit, { tenantId, ids }) => {
    const found = await unit.messages.byIds(ids);
    await deleteMessages(
      unit,
      tenantId,
      found.map(({ id }) => id),
    );
    const threads = new Map(found.map((one) => [threadKey(one.accountId, one.contactId), one]));
    await unit.threads.deleteEmpty([...threads.values()]);
    return found.length;
  }),
};

/** Dependencies of the deletion of old messages. */
export interface RetentionParts {
  readonly storage: Pick<Storage, 'now' | 'read' | 'submit'>;
  /** How long messages are kept, in milliseconds. */
  readonly keptMs: number;
  /** Deletes the files of deleted messages. */
  sweepMedia(): void;
  readonly log: GatewayLog;
}

/**
 * Starts to delete old messages, some at a time. A process that finds that another one is ahead of it leaves the round to
 * that one.
 */
export function startRetention({ storage, keptMs, sweepMedia, log }: RetentionParts): {
  stop(): Promise<void>;
} {
  const stopping = new AbortController();
  const loop = new Loop(
    () => roundPause(keptMs),
    async () => {
      const before = (await storage.now()) - keptMs;
      const step = () => retire(storage, before);
      await pacedSteps(step, stopping.signal).finally(sweepMedia);
    },
    (error) => log.warn({ err: error }, 'old messages could not be deleted'),
  );
  loop.kick();
  return {
    stop() {
      stopping.abort();
      return loop.stop();
    },
  };
}

/** Deletes the oldest; answers whether there may be more, and this process is the one to delete them. */
async function retire(storage: RetentionParts['storage'], before: number): Promise<boolean> {
  const old = await storage.read.messages.storedBefore(before, deletedAtOnce);
  let deleted = 0;
  for (const tenantId of new Set(old.map((one) => one.tenantId))) {
    const ids = old.filter((one) => one.tenantId === tenantId).map(({ id }) => id);
    deleted += await storage.submit(retireLane, { tenantId, ids });
  }
  return deleted === deletedAtOnce;
}
