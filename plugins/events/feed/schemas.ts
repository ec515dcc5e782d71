import { Type } from 'typebox';
import { allEventTypes } from '../../../core/contracts/events.ts';
import { Closed, Nullable, OneOf, Timestamp } from '../../../core/schemas.ts';

/** The query of `GET /events`. */
export const EventsQuery = Closed({
  cursor: Type.Optional(Type.String({ description: 'The `cursor` of the previous answer.' })),
  from: Type.Optional(
    OneOf(['now', 'oldest'], {
      description:
        'Where to begin without a cursor: behind all events (`now`, the default), or before the oldest kept. Refused beside one.',
    }),
  ),
  types: Type.Optional(
    Type.String({
      maxLength: 500,
      description:
        'Only events of these types, separated by commas, as far as the account has them: `list_webhook_events`.',
      examples: ['message.received,message.failed'],
    }),
  ),
  account_id: Type.Optional(
    Type.String({
      description:
        'Only events of this account. An unknown id gives none; a number that was removed and connected again has a new id.',
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
  timeout_s: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 55,
      default: 25,
      description: 'How long to wait, in seconds; 0 only looks.',
    }),
  ),
});

/** An event of the feed. */
export const EventSchema = Type.Object(
  {
    id: Type.String({
      description: 'the same whenever the event is read',
      examples: ['evt_01j5x8zq3e9v7k2m4n6p8r0stv'],
    }),
    type: OneOf(allEventTypes, { description: 'the event type' }),
    created_at: Timestamp,
    account_id: Nullable(
      Type.String({
        description: 'null for an event of no single account',
        examples: ['acc_01j5x8zq3e9v7k2m4n6p8r0stv'],
      }),
    ),
    payload: Type.Unsafe<object>({
      type: 'object',
      additionalProperties: true,
      description: 'the body that a webhook gets',
    }),
  },
  { $id: 'Event' },
);

/** The answer of `GET /events`. */
export const EventsAnswer = Type.Object({
  events: Type.Array(EventSchema, { description: 'oldest first' }),
  cursor: Type.String({ description: 'to be passed to the next call, whatever came' }),
  has_more: Type.Boolean({ description: 'whether there is more already: call again at once' }),
  missed: Type.Boolean({
    description:
      'true when the cursor is older than what is kept, so that events may have been missed; this answer goes on with the oldest',
  }),
});
