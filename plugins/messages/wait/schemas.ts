import { Type } from 'typebox';
import { Closed } from '../../../core/schemas.ts';
import { MessageSchema } from '../schemas.ts';

/** The query of `GET /messages/wait`. */
export const WaitQuery = Closed({
  cursor: Type.Optional(Type.String({ description: 'The `next_cursor` of the previous call.' })),
  account_id: Type.Optional(
    Type.String({
      description: 'Only messages received on this account; an unknown id gives none.',
    }),
  ),
  timeout_s: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 55,
      default: 25,
      description: 'How long to wait, in seconds; 0 only looks.',
    }),
  ),
});

/** The answer of `GET /messages/wait`. */
export const WaitAnswer = Type.Object({
  messages: Type.Array(MessageSchema, { description: 'oldest first, at most 50' }),
  next_cursor: Type.String({ description: 'to be passed to the next call' }),
});
