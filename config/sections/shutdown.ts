import { Type } from 'typebox';
import { Closed } from '../../core/schemas.ts';

/** The stop. */
export const ShutdownSettings = Closed({
  drain_s: Type.Number({
    description: 'for which a stopping process still serves while `/servingz` answers 503',
    minimum: 0,
    maximum: 600,
    'x-unit': 's',
    'x-default': '5 with a broker and a database server, else 0.5',
  }),
});
