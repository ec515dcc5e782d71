import type { ChannelAddresses } from '../../../core/contact-address.ts';
import type { DriverCapabilities } from '../../../core/contracts/driver.ts';
import type { SendAnswer } from '../../../core/contracts/messages.ts';
import type { GatewayError } from '../../../core/errors.ts';
import type { LimitRules } from '../../limits/contract.ts';
import type { Media } from '../tables/message-rows.ts';
import type { SendReference } from '../tables/sending-rows.ts';

/** One send as it enters the accept lane: authenticated, validated, its phone number normalised. */
export interface SendInput extends Required<SendReference> {
  /** The id the message gets when it is accepted; made by the caller, so that a repeat finds it. */
  readonly id: string;
  /** The accounts it may go out from; null: all of the tenant. */
  readonly accountIds: ReadonlySet<string> | null;
  /** The contact of this id has exchanged nothing with the accounts that the key is limited to. */
  readonly isStranger: boolean;
  /** Why the drivers of channels could not read the address, by channel. */
  readonly addressFaults: ReadonlyMap<string, GatewayError>;
  readonly text: string;
  readonly media: Media | null;
  /** The `traceparent` that the message keeps; null without a trace. */
  readonly trace: string | null;
  readonly idempotency: { readonly keyHash: string; readonly bodyHash: string } | null;
  /** A person has to be asked first: it is decided, and a refusal recorded, but what is accepted is not entered. */
  readonly isQuestion?: true;
}

/** What became of one send. A refusal is a value: thrown it would roll back strangers. */
export type SendDecision = { readonly accepted: SendAnswer } | RefusedSend;

/** Why a send is refused. */
export interface RefusedSend {
  readonly refused: GatewayError;
  /** The account that it names or that was chosen; null where none was known yet. */
  readonly accountId: string | null;
}

/** A channel as a send must know it. */
export interface SendingChannel {
  /** Null where no driver is there that would know it. */
  readonly recipients: DriverCapabilities['recipients'] | null;
  /** The longest text, in characters; null: any that the gateway takes. */
  readonly maxText: number | null;
  /** What an address on the channel is, in words for people. */
  readonly address: string;
}

/** The addresses that a text may mean, by channel. */
export type FindAddresses = (text: string) => ChannelAddresses;

/** The rules beyond the limits that a send is decided by. */
export interface SendRules {
  readonly limits: LimitRules;
  /** How long an Idempotency-Key is kept. */
  readonly idempotencyMs: number;
  /** What a channel's network can do. */
  channel(channel: string, mode: 'live' | 'test'): SendingChannel;
  /** A new contact's id. */
  newContactId(at: number): string;
}
