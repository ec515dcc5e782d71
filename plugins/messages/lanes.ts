import type { ReceiptEvent } from '../../core/contracts/driver.ts';
import type { Messages } from '../../core/contracts/messages.ts';
import type { Storage } from '../../core/contracts/storage.ts';
import type { LiveSession } from '../accounts/contract.ts';
import type { Outbox } from '../events/contract.ts';
import { makeExpireLane } from './dispatch/expire-lane.ts';
import type { DispatchStep, SessionOutput } from './dispatch/session-input.ts';
import { makeSessionLane } from './dispatch/session-lane.ts';
import { type ImportInput, type ImportOutput, makeImportLane } from './receive/import-lane.ts';
import type { ReceiveInput, ReceiveOutput } from './receive/input.ts';
import { makeReceiveLane, type ReceiveParts } from './receive/receive-lane.ts';
import { type AcceptParts, makeAcceptLane } from './send/accept-lane.ts';
import type { SendDecision, SendInput } from './send/input.ts';

/** The session that asks. */
export type AskingSession = Pick<LiveSession, 'account' | 'fence'>;

/** Every decision about messages, each the submission to its lane; those about waits are `SlotLanes`. */
export interface MessageLanes {
  accept(send: SendInput): Promise<SendDecision>;
  /** Stores a step of a session's dispatching. `step` is asked when the transaction begins, and answers the same each time. */
  dispatch(session: AskingSession, step: () => DispatchStep): Promise<SessionOutput>;
  /**
   * Enters receipts in their order; answers those whose messages the answer of a send may yet name. `lost`: the session
   * has lost its lease.
   */
  receipts(
    session: AskingSession,
    receipts: readonly ReceiptEvent[],
  ): Promise<readonly ReceiptEvent[] | 'lost'>;
  receive(input: ReceiveInput): Promise<ReceiveOutput>;
  import(input: ImportInput): Promise<ImportOutput>;
  /** Fails some of an account's messages that nobody will send; answers whether there may be more. */
  expire(accountId: string): Promise<boolean>;
}

/** Dependencies of the lanes. */
export interface LaneParts extends AcceptParts, ReceiveParts {
  readonly storage: Storage;
  /** Forgets contacts that turn out to be one person with a private one. */
  readonly forgetContact: Messages['forgetContact'];
  /** Takes the events of sent messages. */
  readonly outbox: Pick<Outbox, 'prepare'>;
  /** Age from which a message is not handed over any more, milliseconds. */
  readonly expireMs: number;
}

/** Makes the lanes, once for each storage. */
export function makeLanes(parts: LaneParts): MessageLanes {
  const { storage, forgetContact, outbox, expireMs, reporter } = parts;
  const accept = makeAcceptLane(parts);
  const session = makeSessionLane(expireMs, outbox, reporter);
  const receive = makeReceiveLane(forgetContact, outbox, parts);
  const importing = makeImportLane(forgetContact);
  const expire = makeExpireLane(expireMs, reporter);
  return {
    accept: (input) => storage.submit(accept, input),
    dispatch: ({ account: { tenantId }, fence }, step) =>
      storage.submit(session, { fence, tenantId, step, receipts: [] }),
    async receipts({ account: { tenantId }, fence }, receipts) {
      const output = await storage.submit(session, { fence, tenantId, step: null, receipts });
      return output.held ? output.left : 'lost';
    },
    receive: (input) => storage.submit(receive, input),
    import: (input) => storage.submit(importing, input),
    expire: (input) => storage.submit(expire, input),
  };
}
