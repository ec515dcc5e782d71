import { Type } from 'typebox';
import { Closed } from '../../core/schemas.ts';

/** The record of who changed what. */
export const AuditSettings = Closed({
  keep_days: Type.Integer({
    description: 'for which an entry is kept; 0 is for ever',
    default: 365,
    minimum: 0,
    maximum: 36_500,
    'x-unit': 'd',
  }),
});
