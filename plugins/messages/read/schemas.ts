import { Type } from 'typebox';
import { Closed, Nullable, OneOf } from '../../../core/schemas.ts';
import { MessageSchema } from '../schemas.ts';

/** The query of `GET /messages`. */
export const ListQuery = Closed({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
  direction: Type.Optional(OneOf(['inbound', 'outbound'])),
  account_id: Type.Optional(
    Type.String({ maxLength: 64, description: 'An unknown id gives an empty list.' }),
  ),
  before: Type.Optional(
    Type.String({ maxLength: 500, description: 'The `next_cursor` of the previous page.' }),
  ),
});

/** A page of `GET /messages`. */
export const ListAnswer = Type.Object({
  messages: Type.Array(MessageSchema, { description: 'newest first' }),
  next_cursor: Nullable(Type.String({ description: 'null when there is no further page' })),
});
