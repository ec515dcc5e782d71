import type { Lane, Unit } from '../../../core/contracts/storage.ts';
import { failures } from '../failures.ts';
import type { MessageReporter } from '../message-reporter.ts';
import { failed } from '../status.ts';
import { abandonQueued } from './abandon.ts';
import { changeQueued, pageSize } from './change-queued.ts';

/**
 * The lane of the sweep that fails what nobody will send: undispatched messages that waited too long, and what
 * was accepted while its account was just being removed or logged out.
 */
export function makeExpireLane(
  expireMs: number,
  reporter: Pick<MessageReporter, 'report'>,
): Lane<string, void> {
  return {
    name: 'messages.expire',
    maxBatch: 16,
    locks: (accountId) => [`lease:${accountId}`],
    async run(unit, accountIds) {
      const accounts = await unit.accounts.find([...new Set(accountIds)]);
      for (const { id, removedAt, status, reason } of accounts) {
        if (removedAt !== null) await abandonQueued(unit, id, 'removed', reporter);
        else if (status === 'disconnected') {
          await abandonQueued(unit, id, reason ?? 'session_lost', reporter);
        } else await expire(unit, id, expireMs, reporter);
      }
      return accountIds.map(() => undefined);
    },
  };
}

async function expire(
  unit: Unit,
  accountId: string,
  expireMs: number,
  reporter: Pick<MessageReporter, 'report'>,
): Promise<void> {
  const before = unit.now - expireMs;
  for (;;) {
    const waiting = await unit.queuedMessages.queuedForChange(accountId, pageSize, before, true);
    const changed = await changeQueued(unit, reporter, waiting, (message) =>
      failed(message, failures.expired(expireMs / 3_600_000), unit.now),
    );
    if (changed < pageSize) return;
  }
}
