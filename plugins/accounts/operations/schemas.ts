import { Type } from 'typebox';
import {
  Closed,
  Nullable,
  nullableTimestamp,
  OneOf,
  Timestamp,
  timestamp,
} from '../../../core/schemas.ts';
import { causeOf } from '../account-state.ts';
import { chatappStatuses, connectionStatuses, msgappStatuses } from '../connection-status.ts';
import type { AccountStatus } from '../contract.ts';
import { reasonWords } from '../reasons.ts';
import type { SessionView } from '../session/protocol.ts';

const accountStatuses = [
  'connected',
  'connecting',
  'disconnected',
  'restricted',
] as const satisfies readonly AccountStatus[];

/** A number in a request body: any string, so that a wrong one is refused as `invalid_phone_number`. */
export const PhoneNumberGiven = Type.String({
  description: 'the phone number in E.164 format, with its `+`',
  maxLength: 64,
  examples: ['+15550001111'],
});

/** A number in an answer. */
export const PhoneNumber = Type.String({
  description: 'the phone number in E.164 format',
  pattern: '^\\+[1-9][0-9]{6,14}$',
  examples: ['+15550001111'],
});

/** The number that an operation is about. */
export const ConnectionParams = Closed({
  phoneNumber: Type.String({
    description: 'the phone number in E.164 format; the `+` may be absent',
    examples: ['+15550001111'],
  }),
});

/** The name of a channel. */
export const ChannelName = Type.String({
  description: 'the channel, as `GET /channels` names it',
  examples: ['msgapp_web'],
});

/** The identifier of an account on any channel. */
export const Identifier = Type.String({
  description: 'the account: a phone number in E.164 format, or what its network calls it by',
  examples: ['+15550001111'],
});

export const AccountId = Type.String({
  description: 'the account, as `account_id` of other operations takes it',
  pattern: '^acc_[0-9a-z]{26}$',
  examples: ['acc_01jxk5d8a0c1v7m2q3r4s5t6w7'],
});

export const MsgappStatus = OneOf(msgappStatuses, {
  description:
    '`connected` is success; `disconnected` (the link has ended, or was not made in time) and `not_initialized` ' +
    '(no session exists: the linking was cut short) are failures that only a new connect ends; `connecting` ' +
    'goes on by itself; `restricted`: linked, but the network or the safety limits stop it from sending',
});

export const ChatappStatus = OneOf(chatappStatuses, {
  description:
    '`code_required`, `password_required`: hand in the value; `qr_required`: scan the code; `connected` is ' +
    'success; `error`: the network refused the login; `disconnected` (the link has ended, or was not made in time) ' +
    'and `not_initialized` (no session exists: the login was cut short): connect again; `connecting` goes on by itself',
});

export const ConnectionStatus = OneOf(connectionStatuses, {
  description:
    '`connecting`: `step` says what the user has to do, if anything; else it goes on by itself. `connected` is ' +
    'success; `restricted`: linked, but the network or the safety limits stop it from sending; `error`: the ' +
    'network refused the login; `disconnected` (the link has ended, or was not made in time) and `not_initialized` ' +
    '(no session exists: the linking was cut short): connect again',
});

/** The fields that explain a connection's status, in every answer with one. */
export const causeFields = {
  reason: Nullable(
    OneOf(reasonWords, {
      description: 'why the status is as it is; null while there is nothing to say',
    }),
  ),
  detail: Nullable(
    Type.String({ description: 'a sentence for people: what happened, and what to do next' }),
  ),
  since: Type.String({ ...Timestamp, description: 'when the status or its reason last changed' }),
  retry_at: Nullable(
    Type.String({
      ...Timestamp,
      description:
        'when it is tried again by itself, when the restriction ends, or, after a refused login, when a new one may ' +
        'be tried; null where nobody says',
    }),
  ),
};

/** The same fields of one connection. They say of a connected one why it may write to known contacts only, and until when. */
export function causeView({ state, since, retryAt }: SessionView) {
  const isRestricted = state.status === 'restricted' || state.status === 'connected';
  const endsAt = isRestricted ? state.restrictedUntil : null;
  return {
    ...causeOf(state),
    since: timestamp(since),
    retry_at: nullableTimestamp(retryAt ?? endsAt),
  };
}

/** The fields of a connection without a reason, for examples. */
export const noCauseExample = {
  reason: null,
  detail: null,
  since: '2026-01-31T09:30:24.512Z',
  retry_at: null,
} as const;

const Count = (description: string) => Type.Integer({ description, minimum: 0 });

/** An account in the list. */
export const Account = Closed(
  {
    id: AccountId,
    channel: Type.String({ description: 'the network', examples: ['msgapp_web', 'chatapp'] }),
    identifier: Type.String({
      description: "the phone number of the account, or another network's own identifier",
      examples: ['+15550001111'],
    }),
    status: OneOf(accountStatuses, {
      description:
        '`connected` accounts can send; a `connecting` one is being linked, or reconnects and sends what waits later',
    }),
    status_detail: Nullable(
      Type.String({ description: 'why, as a sentence for people; null while nothing hinders it' }),
    ),
    status_since: Type.String({
      ...Timestamp,
      description: 'when the status or its reason last changed',
    }),
    new_contacts_blocked_until: Nullable(
      Type.String({
        ...Timestamp,
        description:
          'until when the network lets it write to no new contacts; null when it may, or when nobody knows how long',
      }),
    ),
    proxy: Nullable(
      Type.String({
        description:
          'where it connects through, without the password; null: directly; a sentence when the gateway cannot open ' +
          'it: set it anew',
      }),
    ),
    limits: Closed(
      {
        sends: Count('messages accepted from this account today (UTC)'),
        sends_cap: Count('the most it may send today: the lower of plan and ramp'),
        new_contacts: Count('new contacts made by this account today'),
        new_contacts_cap: Count('the most it may make today'),
      },
      { description: 'today against the caps' },
    ),
    ramp_day: Nullable(
      Type.Integer({
        description: 'day of the warm-up ramp, 1 on the first; null without a ramp',
        minimum: 1,
      }),
    ),
    created_at: Timestamp,
    connected_at: Nullable(Timestamp),
  },
  { $id: 'Account', description: 'A connected account: one phone number on one network.' },
);

/** Status of either family. */
export const MsgappConnection = Closed({
  phone_number: PhoneNumber,
  status: MsgappStatus,
  ...causeFields,
});
