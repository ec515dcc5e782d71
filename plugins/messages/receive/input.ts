import type { LeaseToken } from '../../cluster/contract.ts';
import type { TakenMedia } from '../../media/contract.ts';
import type { Arrival } from './arrival-line.ts';

/** The account whose session reports something. */
export interface ReceivingAccount {
  readonly fence: LeaseToken;
  readonly tenantId: string;
  readonly channel: string;
}

/** One inbound message of one session. */
export interface ReceiveInput extends ReceivingAccount, Arrival {
  /** Its media, when the bytes were taken into the media store. */
  readonly taken: TakenMedia | null;
  /** The `traceparent` that the message keeps; null without a trace. */
  readonly trace: string | null;
}

/**
 * `ignored`: stored before, or from somebody who is private or cannot be named. `early`: one before it in its line is
 * not stored yet, to be tried again. `lost`: the session has lost its lease.
 */
export type ReceiveOutput = 'stored' | 'ignored' | 'early' | 'lost';
