import { Type } from 'typebox';
import { longestAddress } from './contact-address.ts';
import type { ErrorCode } from './errors.ts';
import type { OperationHeader } from './operation.ts';
import { Closed, OneOf, Timestamp } from './schemas.ts';

/**
 * The fields of a body that say from which account and to whom a message goes, as `POST /messages` has them. Spread
 * into the body of every operation that hands them on to `messages.send`.
 */
export const sendTarget = {
  account_id: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'The account to send from. Optional while only one is connected or reconnecting.',
    }),
  ),
  to: Closed(
    {
      phone: Type.Optional(
        Type.String({ maxLength: 40, description: 'E.164, with `+`', examples: ['+12025550123'] }),
      ),
      contact_id: Type.Optional(Type.String({ minLength: 1, description: 'An existing contact.' })),
      address: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: longestAddress,
          description:
            'Where `recipients` of the channel is `address`: the address of anybody there.',
        }),
      ),
    },
    {
      description: 'The recipient. When several are given they must name the same contact.',
      anyOf: [{ required: ['phone'] }, { required: ['contact_id'] }, { required: ['address'] }],
    },
  ),
};

/** The answer 202 of an operation that sends one message. */
export const QueuedMessage = Type.Object(
  {
    id: Type.String(),
    status: OneOf(['queued']),
    account_id: Type.String(),
    contact_id: Type.String(),
    created_at: Timestamp,
  },
  { $id: 'QueuedMessage' },
);

/** The longest Idempotency-Key. */
const longestKey = 255;

/** The header that lets a send be repeated safely; its value goes to `messages.send`. */
export const idempotencyKeyHeader: OperationHeader = {
  name: 'Idempotency-Key',
  description:
    'Any text of your choice that is unique for this message. With it a request can be repeated safely: ' +
    'within 24 hours the same key and body get the first answer again; refusals are not kept.',
  schema: Type.String({ minLength: 1, maxLength: longestKey }),
};

/** What `messages.send` may refuse with beyond the refusals of every operation; part of such an operation's `errors`. */
export const sendErrors = [
  'confirmation_required',
  'invalid_phone_number',
  'driver_failed',
  'ambiguous_account',
  'account_suspended',
  'account_not_found',
  'contact_not_found',
  'no_connected_account',
  'idempotency_conflict',
  'contact_channel_mismatch',
  'chatapp_requires_existing_contact',
  'contact_required',
  'contact_do_not_disturb',
  'contact_private',
  'loop_guard',
  'opener_burst',
  'daily_send_cap',
  'new_contact_cap',
] as const satisfies readonly ErrorCode[];
