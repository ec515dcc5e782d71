import t from 'tap';
import { Type } from 'typebox';
import { GatewayError } from '../../../core/errors.ts';
import { type AnyOperation, operation } from '../../../core/operation.ts';
import { Closed } from '../../../core/schemas.ts';
import { inArguments, partsOf } from '../../../plugins/mcp/arguments.ts';
import { toolAnswer } from '../../../plugins/mcp/calls.ts';
import { describe, toolRefusals } from '../../../plugins/mcp/description.ts';
import { readMessages } from '../../../plugins/mcp/messages.ts';
import { mayCome, originOf } from '../../../plugins/mcp/origins.ts';
import { toolsOf } from '../../../plugins/mcp/tools.ts';
import { rpc, toolAnswerOf } from '../../harness/agent.ts';

const declaration = {
  id: 'change_thing',
  method: 'PUT',
  path: '/things/{thingId}',
  tool: 'change_thing',
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

const change = operation({
  ...declaration,
  handler: async () => ({ status: 200, body: { id: '1', text: '' } }),
});

function toolOf(declared: AnyOperation) {
  const [tool] = toolsOf([declared]).values();
  if (tool === undefined) throw new Error('there is a tool');
  return tool;
}

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
        description: 'A JSON object with the fields below, never a string that holds JSON.',
      },
    },
    required: ['thingId', 'mode', 'body'],
    additionalProperties: false,
  });
  t.strictSame(listed.annotations, {
    title: 'Change a thing',
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

t.test('a description says what to expect and what to do after each refusal', async (t) => {
  const text = describe(change);
  t.match(text, /^Changes it\./);
  t.match(text, 'Answers 200 with `id`, `text`.');
  t.match(describe({ ...change, picture: 'text' }), '200 with `id`, and `text` as an image beside');
  t.match(text, /- 429 `daily_send_cap`: nothing more can be sent/);
  t.notMatch(text, '- 404', 'what the operation itself explains is not said twice');
  t.strictSame(
    toolRefusals(change),
    ['message_not_found', 'daily_send_cap'],
    'no headers, no keys',
  );
  const gone = { code: 'thing_gone', status: 410, text: 'It is gone.' };
  const remedied = { ...gone, code: 'thing_lost', remedy: 'look for it.' };
  const own = describe({ ...change, errors: [gone, remedied] });
  t.match(own, '- 410 `thing_gone`: It is gone.\n- 410 `thing_lost`: look for it.');
});

t.test('arguments become the parts of a request', async (t) => {
  const tool = toolOf(change);
  const right = { thingId: 't', mode: 'x', body: { text: 'y' } };
  t.strictSame(partsOf(tool, right), {
    params: { thingId: 't' },
    query: { mode: 'x' },
    body: { text: 'y' },
  });
  const { body: _, ...bodiless } = right;
  const table: readonly (readonly [object, readonly (readonly [string, RegExp])[]])[] = [
    [
      {},
      [
        ['thingId', /is required/],
        ['mode', /is required/],
        ['body', /is required/],
      ],
    ],
    [bodiless, [['body', /^body is required$/]]],
    [{ ...right, body: '{"text":"y"}' }, [['body', /must be an object, not a string/]]],
    [
      { ...bodiless, text: 'y' },
      [
        ['text', /is a field of body/],
        ['body', /is required/],
      ],
    ],
    [{ ...right, other: 1 }, [['other', /this tool takes thingId, limit, mode, body/]]],
    [{ ...right, thing_id: 1 }, [['thing_id', /: thingId is meant/]]],
    [{ ...right, thingId: '' }, [['thingId', /must not be empty/]]],
    [{ ...right, thingId: 'x'.repeat(501) }, [['thingId', /at most 500/]]],
    [{ ...right, ['x'.repeat(200)]: 1 }, [['x'.repeat(200), /"x{100}…"/]]],
    [{ ...right, toString: 1 }, [['toString', /no argument "toString"/]]],
  ];
  for (const [given, expected] of table) {
    const error = refusalOf(() => partsOf(tool, { ...given }));
    const name = JSON.stringify(given).slice(0, 60);
    t.equal(error.code, 'invalid_request', name);
    t.strictSame(
      error.details?.map(({ path }) => path),
      expected.map(([path]) => path),
      name,
    );
    for (const [n, [, message]] of expected.entries())
      t.match(error.details?.[n]?.message, message);
    t.equal(error.message, error.details?.[0]?.message);
  }
});

function refusalOf(run: () => unknown): GatewayError {
  try {
    run();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

t.test('a refusal names the arguments', async (t) => {
  const details = [
    { path: 'query/limit', message: 'query/limit must be an integer' },
    { path: 'path/thingId', message: 'path/thingId must be a string' },
    { path: 'body/loud', message: 'body/loud must be a boolean' },
    { path: 'body/path/x', message: 'body/path/x must be a number' },
  ];
  const message = 'query/limit must be an integer';
  const error = new GatewayError('invalid_request', { message, details, cause: 'why' });
  const given = { limit: '5', thingId: 5, body: { loud: 'true', path: { x: null } } };
  const named = inArguments(error, given);
  t.strictSame(named.details, [
    { path: 'limit', message: 'limit must be an integer, not a string' },
    { path: 'thingId', message: 'thingId must be a string' },
    { path: 'body/loud', message: 'body/loud must be a boolean, not a string' },
    { path: 'body/path/x', message: 'body/path/x must be a number' },
  ]);
  t.equal(named.message, 'limit must be an integer, not a string');
  t.equal(named.cause, 'why');
  const capped = new GatewayError('daily_send_cap', { retryAfterS: 7 });
  t.equal(inArguments(capped, {}), capped, 'what has no details stays');
});

t.test('an answer begins with its status', async (t) => {
  t.strictSame(toolAnswer(202, '{"id":"1"}'), {
    content: [{ type: 'text', text: '202 Accepted\n{"id":"1"}' }],
    isError: false,
  });
  t.strictSame(toolAnswer(400, '{}').isError, true);
  const code = '{"qr":"scan me","picture":"data:image/png;base64,iVBORw0KGgo="}';
  t.strictSame(toolAnswer(200, code, 'picture'), {
    content: [
      { type: 'text', text: '200 OK\n{"qr":"scan me"}' },
      { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
    ],
    isError: false,
  });
  t.strictSame(toolAnswer(404, '{}', 'picture'), toolAnswer(404, '{}'), 'a refusal has none');
  t.equal(toolAnswerOf(toolAnswer(429, '{}')).statusLine, '429 Too Many Requests');
});

t.test('messages', async (t) => {
  const call = rpc('tools/call', { name: 'x' }, 7);
  const notice = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled' });
  const free = (): void => undefined;
  const bad: readonly (readonly [string, number])[] = [
    ['', -32_700],
    ['{', -32_700],
    ['nonsense', -32_700],
    ['null', -32_600],
    ['1', -32_600],
    ['"text"', -32_600],
    ['[]', -32_600],
    ['[[]]', -32_600],
    ['{}', -32_600],
    ['{"jsonrpc":"1.0","id":1,"method":"ping"}', -32_600],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32_600],
    ['{"jsonrpc":"2.0","id":1,"method":5}', -32_600],
    [`[${call},{}]`, -32_600],
    [`[${call},${call}]`, -32_600],
  ];
  for (const [text, code] of bad) {
    t.match(
      readMessages(text, free),
      { error: { jsonrpc: '2.0', error: { code }, id: null } },
      text,
    );
  }
  t.match(readMessages(call, free), { messages: [{ id: 7 }], batch: false });
  t.match(readMessages(notice, free), { messages: [{ method: 'notifications/cancelled' }] });
  const mixed = readMessages(`[${call},${notice}]`, free);
  t.match(mixed, { messages: [{ id: 7 }], batch: true });
  t.equal('messages' in mixed && mixed.messages.length, 1, 'a notice beside a request is dropped');
});

t.test('origins', async (t) => {
  const allowed = ['https://gateway.example.com', 'app://desk'];
  const table: readonly (readonly [string | undefined, boolean])[] = [
    [undefined, true],
    ['https://gateway.example.com', true],
    ['HTTPS://Gateway.Example.com', true],
    ['app://desk', true],
    ['http://gateway.example.com', false],
    ['https://gateway.example.com:8443', false],
    ['https://gateway.example.com.evil.org', false],
    ['https://evil.org', false],
    ['null', false],
    ['', false],
  ];
  for (const [origin, expected] of table)
    t.equal(mayCome(origin, allowed), expected, String(origin));
  t.equal(originOf('https://Gateway.example.com:443/some/where'), 'https://gateway.example.com');
  t.equal(originOf('http://127.0.0.1:3000'), 'http://127.0.0.1:3000');
  t.equal(originOf('nonsense'), null);
});
