import { Type } from 'typebox';
import { MessageContactSchema } from '../../../core/event-payloads.ts';
import {
  Closed,
  NextCursor,
  notBlank,
  OneOf,
  PageBefore,
  PageLimit,
} from '../../../core/schemas.ts';
import { MessageSchema } from '../schemas.ts';
import { countedUnanswered } from '../tables/conversations.ts';

/** The query of `GET /messages`. */
export const ListQuery = Closed({
  limit: PageLimit,
  direction: Type.Optional(OneOf(['inbound', 'outbound'])),
  account_id: Type.Optional(Type.String({ description: 'An unknown id gives an empty list.' })),
  contact_id: Type.Optional(
    Type.String({
      description: 'Or an alias of it. An unknown id gives an empty list.',
    }),
  ),
  status: Type.Optional(
    OneOf(['queued', 'sent', 'delivered', 'read', 'failed', 'received'], {
      description: 'Only messages that are in this state now.',
    }),
  ),
  error_code: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'Only failed messages whose `error` begins with this code, such as `expired`.',
    }),
  ),
  since: Type.Optional(Moment('Only messages accepted or received at this moment or later.')),
  until: Type.Optional(Moment('Only messages accepted or received before this moment.')),
  q: Type.Optional(
    Type.String({
      maxLength: 200,
      pattern: notBlank,
      description:
        'Only messages whose text contains each of these words, also within longer ones, whatever the case.',
    }),
  ),
  before: PageBefore,
});

function Moment(description: string) {
  return Type.String({ description, format: 'date-time', examples: ['2026-01-31T09:30:00.000Z'] });
}

/** A page of `GET /messages`. */
export const ListAnswer = Type.Object({
  messages: Type.Array(MessageSchema, { description: 'newest first' }),
  next_cursor: NextCursor,
});

/** The query of `GET /conversations`. */
export const ConversationsQuery = Closed({
  limit: PageLimit,
  account_id: Type.Optional(Type.String({ description: 'An unknown id gives an empty list.' })),
  q: Type.Optional(
    Type.String({
      maxLength: 200,
      pattern: notBlank,
      description:
        'Only conversations whose contact has each of these words in its name, number or address, also within longer ' +
        'ones, whatever the case. Texts are searched by `q` of `GET /messages`.',
    }),
  ),
  before: PageBefore,
});

const Conversation = Type.Object(
  {
    account_id: Type.String({ examples: ['acc_01j5x8zq3e9v7k2m4n6p8r0stv'] }),
    channel: Type.String({ examples: ['msgapp_web'] }),
    contact: Type.Object(
      {
        ...MessageContactSchema.properties,
        address: Type.String({
          description: 'as `GET /contacts/{id}` shows it',
          examples: ['+12025550123'],
        }),
      },
      { $id: 'ConversationContact' },
    ),
    last_message: MessageSchema,
    unanswered: Type.Integer({
      minimum: 0,
      maximum: countedUnanswered,
      description: `Messages of the contact since the last one to it; more than ${countedUnanswered} are not counted.`,
    }),
  },
  { $id: 'Conversation', description: 'What passed last between an account and a contact.' },
);

/** A page of `GET /conversations`. */
export const ConversationsAnswer = Type.Object({
  conversations: Type.Array(Conversation),
  next_cursor: NextCursor,
});
