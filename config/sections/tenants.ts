import { Type } from 'typebox';
import { Closed } from '../../core/schemas.ts';
import { Count } from './fields.ts';

/** Authentication. */
export const TenantsSettings = Closed({
  cache_s: Type.Number({
    description: 'how long a key, plan, status or feature may be remembered; 0 asks every time',
    default: 2,
    minimum: 0,
    maximum: 2,
    'x-unit': 's',
  }),
  cache_entries: Count('keys remembered at most, wrong ones included', 10_000, 1),
});
