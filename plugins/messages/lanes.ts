import type { Lane, Storage } from '../../core/contracts/storage.ts';
import { type AcceptParts, makeAcceptLane } from './accept.ts';
import { type DispatchInput, type DispatchOutput, makeDispatchLane } from './dispatch-lane.ts';
import { makeExpireLane } from './failing.ts';
import { type ImportInput, type ImportOutput, importLane } from './import.ts';
import { type ReceiptInput, type ReceiptOutput, receiptLane } from './receipts.ts';
import { makeReceiveLane, type ReceiveInput, type ReceiveOutput } from './receive.ts';
import type { SendDecision, SendInput } from './send.ts';
import { closeWaitLane, makeOpenWaitLane, type SlotInput, type SlotOutput } from './wait-slots.ts';

/** Every decision of the messages plugin, each the submission to its lane. */
export interface MessageLanes {
  accept(send: SendInput): Promise<SendDecision>;
  dispatch(input: DispatchInput): Promise<DispatchOutput>;
  receipt(input: ReceiptInput): Promise<ReceiptOutput>;
  receive(input: ReceiveInput): Promise<ReceiveOutput>;
  import(input: ImportInput): Promise<ImportOutput>;
  expire(accountId: string): Promise<void>;
  openWait(input: SlotInput): Promise<SlotOutput>;
  closeWait(id: string): Promise<void>;
  forgetKeys(input: ForgetKeysInput): Promise<number>;
}

/** Which idempotency keys to delete; the answer is how many were. */
export interface ForgetKeysInput {
  /** Kept before this moment. */
  readonly before: number;
  readonly limit: number;
}

const forgetKeysLane: Lane<ForgetKeysInput, number> = {
  name: 'messages.forget-keys',
  locks: () => [],
  async run(unit, inputs) {
    const deleted: number[] = [];
    for (const { before, limit } of inputs) {
      deleted.push(await unit.idempotency.deleteBefore(before, limit));
    }
    return deleted;
  },
};

/** What the lanes are made with. */
export interface LaneParts extends AcceptParts {
  readonly storage: Storage;
  /** After which an undispatched message fails. */
  readonly expireMs: number;
  /** How many waits one tenant may have open. */
  readonly waits: number;
}

/** Makes the lanes, once for each storage. */
export function makeLanes(parts: LaneParts): MessageLanes {
  const { storage, broker, expireMs, waits } = parts;
  const accept = makeAcceptLane(parts);
  const dispatch = makeDispatchLane(expireMs);
  const receive = makeReceiveLane(broker);
  const expire = makeExpireLane(expireMs);
  const openWait = makeOpenWaitLane(waits);
  return {
    accept: (input) => storage.submit(accept, input),
    dispatch: (input) => storage.submit(dispatch, input),
    receipt: (input) => storage.submit(receiptLane, input),
    receive: (input) => storage.submit(receive, input),
    import: (input) => storage.submit(importLane, input),
    expire: (input) => storage.submit(expire, input),
    openWait: (input) => storage.submit(openWait, input),
    closeWait: (input) => storage.submit(closeWaitLane, input),
    forgetKeys: (input) => storage.submit(forgetKeysLane, input),
  };
}
