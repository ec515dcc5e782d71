// Checked by `npm run typecheck`, never run: each @ts-expect-error is a promise of the public types.
import { Type } from 'typebox';
import { GatewayError } from '../../core/errors.ts';
import { operation } from '../../core/operation.ts';
import { Closed, Nullable, OneOf } from '../../core/schemas.ts';

const declaration = {
  id: 'read_thing',
  method: 'GET',
  path: '/things/{id}',
  tool: null,
  scope: 'read',
  group: 'messages',
  summary: 'Read a thing',
  description: 'Reads a thing.',
  hints: { readOnly: true, destructive: false, idempotent: true },
  params: Closed({ id: Type.String() }),
  query: Closed({ limit: Type.Optional(Type.Integer()) }),
  body: null,
  answers: {
    200: Type.Object({ id: Type.String(), note: Nullable(Type.String()) }),
    202: Type.Object({ queued: Type.Boolean() }),
  },
  errors: ['message_not_found'],
  examples: [],
} as const;

operation({
  ...declaration,
  handler: async ({ params, query }) => {
    const id: string = params.id;
    const limit: number | undefined = query.limit;
    // @ts-expect-error a parameter that the schema does not have
    params.other;
    return limit === 1
      ? { status: 202, body: { queued: true } }
      : { status: 200, body: { id, note: null } };
  },
});

operation({
  ...declaration,
  // @ts-expect-error the body belongs to the other status
  handler: async () => ({ status: 200, body: { queued: true } }),
});

operation({
  ...declaration,
  // @ts-expect-error a status that is not declared
  handler: async () => ({ status: 404, body: {} }),
});

operation({
  ...declaration,
  // @ts-expect-error a refusal that is not in the table
  errors: ['no_such_code'],
  handler: async () => ({ status: 202, body: { queued: true } }),
});

// @ts-expect-error a refusal that is not in the table
new GatewayError('no_such_code');

const channel = OneOf(['msgapp_web', 'chatapp']);
export const known: Type.Static<typeof channel> = 'chatapp';
// @ts-expect-error not one of the values
export const unknown: Type.Static<typeof channel> = 'pigeon';
