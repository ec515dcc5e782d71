import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import t from 'tap';
import type { Client } from '../harness/client.ts';
import { runGateway } from '../harness/gateway.ts';
import type { Document, DocumentOperation, JsonObject } from '../harness/openapi.ts';
import { lintOpenApi } from '../harness/openapi-lint.ts';
import { resolve } from '../harness/right-requests.ts';
import { openRows } from '../harness/rows.ts';
import { pair, phoneNumber, receive, sendAccepted, untilMessage } from '../harness/story.ts';
import { wrongInput } from '../harness/wrong-input.ts';
import { storedOf, tenantOf } from './recorded.ts';

/** Warnings that stay, each with its reason. */
const accepted = new Map([
  ['no-server-example.com', 'a gateway that was given no PUBLIC_URL is on the local host'],
  ['no-ambiguous-paths', 'the specification has fixed paths beside templates: /messages/wait'],
]);

/** How many wrong requests are under way at once. */
const workers = 8;

const gateway = await runGateway(t, { databaseUrl: null });
const { api } = gateway;
const rows = openRows(t, `sqlite:${gateway.dataDir}/gateway.db`);

t.test('every wrong request to every operation is refused and changes nothing', async (t) => {
  // The numbers and names of the examples exist, so that only what is wrong can be the reason.
  const account_id = await pair(api, '+15550001111');
  await receive(api, '+15550001111', { from: { phone: phoneNumber(1) }, text: 'before' });
  const id = await sendAccepted(api, { account_id, to: { phone: phoneNumber(2) } });
  await untilMessage(api, id, 'read');
  const webhook = { name: 'orders', url: 'https://localhost/hook', enabled: false };
  await api.post('/webhooks', { ...webhook, subscribed_to: ['account.restricted'] });
  const tenantId = await tenantOf(rows, account_id);
  const stored = () => storedOf(rows, tenantId);
  const before = await stored();
  const phone = (await api.get('/sandbox/phones/+15550001111')).body;

  const inputs = wrongInput(await api.document());
  const wrong: string[] = [];
  const operations = new Set<string>();
  let count = 0;
  const work = async (client: Client): Promise<void> => {
    for (const input of inputs) {
      count += 1;
      operations.add(input.operation);
      const { status, body } = await client.raw(input).catch((error: Error) => ({
        status: 0,
        body: error.message,
      }));
      const right = input.statuses?.includes(status) ?? (status >= 400 && status < 500);
      if (!right) {
        wrong.push(`${input.operation}, ${input.what}: ${status} ${JSON.stringify(body)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: workers }, () => work(api)));
  t.strictSame(wrong, []);
  t.ok(count > 1_000, `${count} requests`);
  const withKey = operationsOf(await api.document()).filter(
    ({ security }) => security === undefined,
  );
  const declared = withKey.map(({ operationId }) => operationId);
  t.strictSame([...operations].sort(), [...declared].sort(), 'to all operations');
  t.strictSame(await stored(), before, 'nothing was changed');
  t.strictSame((await api.get('/sandbox/phones/+15550001111')).body, phone);
  t.notMatch(gateway.output(), /"level":(50|60)|internal_error/, 'nothing failed inside');
});

t.test('the document', async (t) => {
  const yaml = await (await fetch(`${gateway.baseUrl}/docs/openapi.yaml`)).text();
  const problems = await lintOpenApi(yaml);
  t.strictSame(
    problems.filter(({ ruleId, severity }) => severity === 'error' || !accepted.has(ruleId)),
    [],
    'an independent linter finds nothing',
  );
  const document = await api.document();
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajvFormats.default(ajv);
  ajv.addSchema(document as unknown as JsonObject, 'openapi');
  const wrong: string[] = [];
  let count = 0;
  for (const { place, schema, value } of examplesOf(document)) {
    count += 1;
    const validate = ajv.compile({ $ref: `openapi#${schema}` });
    if (!validate(value)) wrong.push(`${place}: ${ajv.errorsText(validate.errors)}`);
  }
  t.strictSame(wrong, [], 'every example is what its schema says');
  t.ok(count > 200, `${count} examples`);
  const silent = operationsOf(document).filter(({ responses }) =>
    Object.entries(responses).some(
      ([status, response]) => status < '300' && examplesIn(response).length === 0,
    ),
  );
  t.strictSame(
    silent.map(({ operationId }) => operationId),
    [],
    'every operation shows an answer',
  );
});

function operationsOf({ paths }: Document): readonly DocumentOperation[] {
  return Object.values(paths).flatMap((methods) => Object.values(methods));
}

interface Example {
  readonly place: string;
  /** JSON pointer of its schema. */
  readonly schema: string;
  readonly value: unknown;
}

type Media = { readonly examples?: Readonly<Record<string, { readonly value: unknown }>> };

function examplesIn(response: JsonObject): readonly unknown[] {
  const content = (response.content ?? {}) as Readonly<Record<string, Media>>;
  return Object.values(content).flatMap(({ examples = {} }) =>
    Object.values(examples).map(({ value }) => value),
  );
}

const jsonSchema = 'content/application~1json/schema';
const lineSchema = 'content/application~1x-ndjson/schema';

/** Every example of every operation: parameters, bodies, answers and refusals. */
function* examplesOf(document: Document): Generator<Example> {
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const pointer = `/paths/${path.replaceAll('~', '~0').replaceAll('/', '~1')}/${method}`;
      for (const [index, { name, examples }] of (operation.parameters ?? []).entries()) {
        for (const { value } of Object.values(examples ?? {})) {
          const place = `${operation.operationId} ${name}`;
          yield { place, schema: `${pointer}/parameters/${index}/schema`, value };
        }
      }
      for (const value of examplesIn((operation.requestBody ?? {}) as JsonObject)) {
        const place = `${operation.operationId} body`;
        yield { place, schema: `${pointer}/requestBody/${jsonSchema}`, value };
      }
      for (const [status, response] of Object.entries(operation.responses)) {
        const { $ref } = response;
        const where = typeof $ref === 'string' ? $ref.slice(1) : `${pointer}/responses/${status}`;
        const answer = resolve(response, document);
        const media = Object.hasOwn(answer.content ?? {}, 'application/x-ndjson')
          ? lineSchema
          : jsonSchema;
        for (const value of examplesIn(answer)) {
          const place = `${operation.operationId} ${status}`;
          yield { place, schema: `${where}/${media}`, value };
        }
      }
    }
  }
}
