import type { Lane } from '../../../core/contracts/storage.ts';
import type { Outbox } from '../../events/contract.ts';
import type { MessageReporter } from '../message-reporter.ts';
import { enterReceipts, traceReceipts } from './receipts.ts';
import type { SessionPrefetch } from './session-batch.ts';
import type { SessionInput, SessionOutput } from './session-input.ts';
import {
  findEarlier,
  findStrangers,
  loadSession,
  loadSessionBatch,
  tenantIdsOf,
} from './session-load.ts';
import { enterStep } from './step.ts';

/** Longer than most transactions of sessions take on a busy machine, in milliseconds. */
const minIntervalMs = 20;

/**
 * The lane of what sessions store of the messages they send. The outcomes of messages and the intents to send the
 * next ones are one transaction, and receipts that come with the answer are in it too, as all of them take the same lease.
 * Intent before action: only what this lane, or the acceptance itself, has stored as dispatched is handed to a driver. The
 * events are fanned out in the transaction that raises them.
 */
export function makeSessionLane(
  expireMs: number,
  outbox: Pick<Outbox, 'prepare'>,
  reporter: Pick<MessageReporter, 'report'>,
): Lane<SessionInput, SessionOutput, SessionPrefetch> {
  return {
    name: 'messages.session',
    maxConcurrent: 2,
    minIntervalMs,
    locks: ({ fence }) => [`lease:${fence.id}`],
    prefetch: (tables, inputs) => loadSession(tables, inputs, outbox),
    async run(unit, inputs, prefetched) {
      const { held } = prefetched;
      const valid = inputs.filter(({ fence }) => held.has(fence));
      const batch = await loadSessionBatch(unit, valid, prefetched);
      const strangers = await findStrangers(unit, valid, batch);
      const earlier = await findEarlier(unit, valid, batch);
      const outputs = inputs.map(({ fence, step, receipts }): SessionOutput => {
        if (!held.has(fence)) return { held: false };
        const left = enterReceipts(batch, fence, receipts);
        const rules = { expireMs, strangers, earlier };
        const next = step === null ? [] : enterStep(batch, fence, step(), rules);
        return { held: true, next, left };
      });
      await unit.withCommit.messages.save([...batch.changed.values()]);
      await reporter.report(unit, batch.reached);
      traceReceipts(unit, batch.traced);
      if (batch.events.length > 0) {
        const store = prefetched.storeEvents ?? (await outbox.prepare(unit, tenantIdsOf(inputs)));
        await store(unit, batch.events);
      }
      return outputs;
    },
  };
}
