import { Type } from 'typebox';
import { Closed } from '../../core/schemas.ts';

/** Authentication, and what becomes of keys. */
export const TenantsSettings = Closed({
  cache_s: Type.Number({
    description: 'how long a key, plan, status or feature may be remembered; 0 asks every time',
    default: 2,
    minimum: 0,
    maximum: 2,
    'x-unit': 's',
  }),
  ended_keys_days: Type.Integer({
    description: 'for which a key is kept after it has expired or was deleted; 0 is for ever',
    default: 90,
    minimum: 0,
    maximum: 36_500,
    'x-unit': 'd',
  }),
});
