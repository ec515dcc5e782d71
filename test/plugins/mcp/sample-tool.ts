import { Type } from 'typebox';
import { type AnyOperation, operation } from '../../../core/operation.ts';
import { Closed } from '../../../core/schemas.ts';
import { toolsOf } from '../../../plugins/mcp/tools.ts';

const declaration = {
  id: 'change_thing',
  method: 'PUT',
  path: '/things/{thingId}',
  tool: 'change_thing',
  scope: 'read',
  group: 'messages',
  summary: 'Change a thing',
  description: 'Changes it. `message_not_found`: it is gone.',
  hints: { readOnly: false, destructive: true, idempotent: true },
  params: Closed({ thingId: Type.String({ description: 'which' }) }),
  query: Closed({ limit: Type.Optional(Type.Integer()), mode: Type.String() }),
  body: Closed({ text: Type.String(), loud: Type.Optional(Type.Boolean()) }, { $id: 'Named' }),
  answers: { 200: Type.Object({ id: Type.String(), text: Type.String() }) },
  errors: ['message_not_found', 'idempotency_conflict', 'daily_send_cap'],
  examples: [],
} as const;

/** An operation with every part that a tool can have. */
export const change = operation({
  ...declaration,
  handler: async () => ({ status: 200, body: { id: '1', text: '' } }),
});

/** The tool that is made of it. */
export function toolOf(declared: AnyOperation) {
  const [tool] = toolsOf([declared]).values();
  if (tool === undefined) throw new Error('there is a tool');
  return tool;
}
