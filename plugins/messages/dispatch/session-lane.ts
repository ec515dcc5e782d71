import type { ReceiptEvent } from '../../../core/contracts/driver.ts';
import type { Lane, Storage } from '../../../core/contracts/storage.ts';
import type { LiveSession } from '../../accounts/contract.ts';
import type { Outbox } from '../../events/contract.ts';
import type { MessageReporter } from '../message-reporter.ts';
import { enterReceipts, traceReceipts } from './receipts.ts';
import type { SessionPrefetch } from './session-batch.ts';
import type { DispatchStep, SessionInput, SessionOutput } from './session-input.ts';
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

/** Dependencies of the session lane. */
export interface SessionLaneParts {
  /** Age from which a message is not handed over any more, milliseconds. */
  readonly expireMs: number;
  /** Takes the events of sent messages. */
  readonly outbox: Pick<Outbox, 'prepare'>;
  readonly reporter: Pick<MessageReporter, 'report'>;
}

/** The session that asks. */
type AskingSession = Pick<LiveSession, 'account' | 'fence'>;

/** What sessions submit to their lane. */
export interface SessionSubmissions {
  /**
   * Stores a step of a session's dispatching. `step` is asked when the transaction begins, and answers the same each
   * time.
   */
  dispatch(session: AskingSession, step: () => DispatchStep): Promise<SessionOutput>;
  /**
   * Enters receipts in their order; answers those whose messages the answer of a send may yet name. `lost`: the session
   * has lost its lease.
   */
  receipts(
    session: AskingSession,
    receipts: readonly ReceiptEvent[],
  ): Promise<readonly ReceiptEvent[] | 'lost'>;
}

/** Makes the submissions to the session lane, once for each storage. */
export function makeSessionSubmissions(
  storage: Storage,
  parts: SessionLaneParts,
): SessionSubmissions {
  const lane = makeSessionLane(parts);
  return {
    dispatch: ({ account: { tenantId }, fence }, step) =>
      storage.submit(lane, { fence, tenantId, step, receipts: [] }),
    async receipts({ account: { tenantId }, fence }, receipts) {
      const output = await storage.submit(lane, { fence, tenantId, step: null, receipts });
      return output.held ? output.left : 'lost';
    },
  };
}

/**
 * The lane of what sessions store of the messages they send. The outcomes of messages and the intents to send the
 * next ones are one transaction, and receipts that come with the answer are in it too, as all of them take the same lease.
 * Intent before action: only what this lane, or the acceptance itself, has stored as dispatched is handed to a driver. The
 * events are fanned out in the transaction that raises them.
 */
function makeSessionLane({
  expireMs,
  outbox,
  reporter,
}: SessionLaneParts): Lane<SessionInput, SessionOutput, SessionPrefetch> {
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
