import { Type } from 'typebox';
import { Closed } from '../../core/schemas.ts';
import { Hours } from './fields.ts';

/** Messages. */
export const MessagesSettings = Closed({
  max_text: Type.Integer({
    description: 'longest text',
    default: 4_096,
    minimum: 1,
    maximum: 65_536,
    'x-unit': 'characters',
  }),
  expire_h: Hours('after which a message that was not sent fails', 24),
  idempotency_h: Hours('for which an Idempotency-Key is kept', 24),
  keep_days: Type.Number({
    description: 'for which a message is kept, from when it was stored; 0: for ever',
    default: 0,
    minimum: 0,
    maximum: 36_500,
    'x-unit': 'days',
  }),
  events_h: Hours('for which an event is kept, whether or not a webhook wants it', 168),
});
