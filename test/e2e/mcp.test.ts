import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import { type ErrorCode, errorTable } from '../../core/errors.ts';
import { connectAgent, postMcp, toolAnswerOf, toolCall } from '../harness/agent.ts';
import { runGateway } from '../harness/gateway.ts';
import type { Document, DocumentOperation } from '../harness/openapi.ts';
import { resolve } from '../harness/right-requests.ts';
import { until } from '../harness/story.ts';
import { carelessCalls } from './mcp/careless.ts';
import { conversation } from './mcp/conversation.ts';
import { manyCallsAtOnce } from './mcp/load.ts';
import { connectChatapp, connectMsgapp, disconnect, talk } from './mcp/story.ts';
import { webhookSettings, webhooks } from './mcp/webhooks.ts';

const names = [
  'connect_chatapp',
  'connect_msgapp',
  'create_webhook',
  'delete_webhook',
  'disconnect_chatapp',
  'disconnect_msgapp',
  'get_chatapp_status',
  'get_message',
  'get_msgapp_qr',
  'get_msgapp_status',
  'get_usage',
  'get_webhook_health',
  'get_webhook_signing_secret',
  'list_accounts',
  'list_webhook_events',
  'list_webhooks',
  'reenable_webhook',
  'rotate_webhook_signing_secret',
  'send_message',
  'submit_chatapp_code',
  'submit_chatapp_password',
  'test_webhook',
  'turn_off_webhook_signing',
  'update_webhook',
  'wait_for_messages',
];

const gateway = await runGateway(t, { databaseUrl: null, settings: webhookSettings });
const agent = await connectAgent(t, gateway.mcpUrl, gateway.key);
const world = { gateway, agent };
const { tools } = await agent.client.listTools();

t.test('the tools', async (t) => {
  t.strictSame(tools.map(({ name }) => name).sort(), names, 'exactly 25');
  t.equal(names.length, 25);
  const titles = tools.map(({ title }) => title);
  t.equal(new Set(titles).size, 25, `each title is another: ${[...titles].sort().join('; ')}`);
  const instructions = agent.client.getInstructions() ?? '';
  for (const said of [
    /Start with list_accounts/,
    /Listen with wait_for_messages/,
    /Reply with send_message/,
    /Ask the user before messaging anyone/,
    /503 unavailable: .* a send only with the same idempotency_key/,
  ]) {
    t.match(instructions, said);
  }
  const document = await gateway.api.document();
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false });
  ajv.addFormat('date', true);
  for (const { name, title, description = '', inputSchema, outputSchema, annotations } of tools) {
    const operation = operations.find(({ operationId }) => operationId === name);
    const parameters = (operation?.parameters ?? []).map(({ name, in: place }) =>
      place === 'header' ? name.toLowerCase().replaceAll('-', '_') : name,
    );
    const body = operation?.requestBody === undefined ? [] : ['body'];
    t.strictSame(Object.keys(inputSchema.properties ?? {}), [...parameters, ...body], name);
    t.ok(ajv.compile(inputSchema), 'a schema that validators take');
    t.ok(title, `${name} has a title`);
    t.ok(description.length > 100, `${name} is described`);
    t.notMatch(description, /Idempotency-Key/, 'no word of headers');
    t.notMatch(description, /(GET|POST|PUT|DELETE) \//, 'nor of paths');
    t.equal(outputSchema?.type, 'object', `${name} says what to expect`);
    t.ok(ajv.compile(outputSchema ?? {}));
    const refusals = operation === undefined ? [] : refusalsOf(operation, document);
    t.equal(refusals.length === 0, name === 'get_usage', `${name}: ${refusals}`);
    // What to do after those is said once, in the instructions.
    for (const code of refusals.filter((one) => !one.endsWith('_not_enabled'))) {
      const [, advice = ''] = description.split(`\`${code}\`: `);
      t.ok(advice.length > 10, `${name} says what to do after ${code}`);
      const { text } = errorTable[code as ErrorCode];
      t.notOk(advice.startsWith(text), `${name} says more of ${code} than that it happened`);
    }
    for (const hint of ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint']) {
      t.type(Reflect.get(annotations ?? {}, hint), 'boolean', `${name}: ${hint}`);
    }
  }
  const hints = (hint: string) =>
    tools.filter(({ annotations = {} }) => Reflect.get(annotations, hint)).map(({ name }) => name);
  t.ok(hints('destructiveHint').includes('disconnect_msgapp'));
  t.notOk(hints('readOnlyHint').includes('send_message'));
  t.notOk(hints('idempotentHint').includes('send_message'));
  t.ok(hints('openWorldHint').includes('wait_for_messages'), 'it brings the words of strangers');
});

/** The codes of an operation in the OpenAPI document that are its own. */
function refusalsOf({ responses }: DocumentOperation, document: Document): readonly string[] {
  const common = [
    'invalid_request',
    'scope_missing',
    'rate_limited',
    'internal_error',
    'unavailable',
  ];
  const text = JSON.stringify(Object.values(responses).map((one) => resolve(one, document)));
  const listed = /"error_code":\{"type":"string","enum":\[([^\]]*)\]/g;
  const codes = [...text.matchAll(listed)].flatMap(([, list = '']) =>
    list.replaceAll('"', '').split(','),
  );
  const byHttpOnly = ['payload_too_large', 'unsupported_media_type', 'uri_too_long'];
  const none = [...common, ...byHttpOnly];
  return codes.filter((code) => !none.includes(code));
}

t.test('every careless call is told which argument is wrong', async (t) => {
  for (const tool of tools) {
    for (const { what, args, path } of carelessCalls(tool)) {
      const { mcpUrl, key } = gateway;
      const { body } = await postMcp(mcpUrl, key, { body: toolCall(tool.name, args) });
      const answer = toolAnswerOf((body as { result: unknown }).result);
      const refusal = answer.body as {
        error: string;
        details: { path: string; message: string }[];
      };
      t.equal(answer.statusLine, '400 Bad Request', `${tool.name}: ${what}`);
      const named = refusal.details?.find((detail) => detail.path === path);
      t.ok(named, `${tool.name}: ${what}: ${JSON.stringify(answer.body)}`);
      t.equal(refusal.error, refusal.details?.[0]?.message);
    }
  }
  t.strictSame((await agent.call('list_accounts')).body, { accounts: [] }, 'and nothing was done');
});

t.test('a whole story', async (t) => {
  await t.test('connect msgapp', (t) => connectMsgapp(t, world));
  await t.test('connect chatapp', (t) => connectChatapp(t, world));
  await t.test('talk', (t) => talk(t, world));
  await t.test('webhooks', (t) => webhooks(t, world));
  await t.test('disconnect', (t) => disconnect(t, world));
});

t.test('a client that goes away frees its place', async (t) => {
  const { mcpUrl, key } = gateway;
  const leaving = new AbortController();
  const body = toolCall('wait_for_messages', { timeout_s: 55 });
  const open = [1, 2].map(() => postMcp(mcpUrl, key, { body, signal: leaving.signal }));
  const look = async () => (await agent.call('wait_for_messages', { timeout_s: 0 })).status;
  await until('both places to be taken', async () => ((await look()) === 429 ? true : undefined));
  leaving.abort();
  const left = await Promise.allSettled(open);
  t.strictSame(
    left.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  // Long before the waits themselves would have ended.
  await until('a place', async () => ((await look()) === 200 ? true : undefined));
});

t.test('the conversation of docs/mcp.md', (t) => conversation(t, world));

t.test('many calls at the same time', (t) => manyCallsAtOnce(t));
