import t from 'tap';
import { Type } from 'typebox';
import { Closed } from '../../../core/schemas.ts';
import { toolsOf } from '../../../plugins/mcp/tools.ts';
import { change, toolOf } from './sample-tool.ts';

t.test('a tool is made from the declaration', async (t) => {
  const { listed } = toolOf(change);
  t.strictSame(listed.inputSchema, {
    type: 'object',
    properties: {
      thingId: { minLength: 1, maxLength: 500, type: 'string', description: 'which' },
      limit: { type: 'integer' },
      mode: { type: 'string' },
      body: {
        type: 'object',
        required: ['text'],
        properties: { text: { type: 'string' }, loud: { type: 'boolean' } },
        additionalProperties: false,
        description: 'A JSON object, never a string that holds JSON.',
      },
    },
    required: ['thingId', 'mode', 'body'],
    additionalProperties: false,
  });
  const answer = { id: { type: 'string' }, text: { type: 'string' } };
  t.strictSame(listed.outputSchema, {
    type: 'object',
    required: ['id', 'text'],
    properties: answer,
  });
  const pictured = toolOf({ ...change, picture: 'text' }).listed.outputSchema;
  t.match(
    pictured,
    { required: ['id'], properties: { id: answer.id } },
    'a picture comes beside it',
  );
  t.notOk('text' in (pictured?.properties ?? {}));
  const either = { ...change, answers: { ...change.answers, 202: change.answers[200] ?? {} } };
  t.match(toolOf(either).listed.outputSchema, { type: 'object', anyOf: { length: 2 } });
  t.strictSame(listed.annotations, {
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: true,
    openWorldHint: true,
  });
  const look = { ...change, hints: { readOnly: true, destructive: false, idempotent: true } };
  t.equal(toolOf(look).listed.annotations?.openWorldHint, false, 'who only reads');
  const hear = { ...look, hints: { ...look.hints, openWorld: true } };
  t.equal(toolOf(hear).listed.annotations?.openWorldHint, true, 'unless it says so');
  t.notOk(toolOf({ ...change, bodyOptional: true }).listed.inputSchema.required?.includes('body'));
  t.strictSame([...toolsOf([{ ...change, tool: null }])], [], 'no tool, none');
  const twice = Closed({ thingId: Type.String() });
  t.throws(() => toolsOf([{ ...change, query: twice }]), /"thingId" twice/);
  t.throws(() => toolsOf([{ ...change, query: Closed({ body: Type.String() }) }]), /"body" twice/);
});
