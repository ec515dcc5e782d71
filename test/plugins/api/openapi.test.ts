import t from 'tap';
import { Type } from 'typebox';
import { parse } from 'yaml';
import { Nullable } from '../../../core/schemas.ts';
import { SharedSchemas } from '../../../plugins/api/openapi/components.ts';
import { tagsOf } from '../../../plugins/api/openapi/groups.ts';
import { lintOpenApi } from '../../harness/openapi-lint.ts';
import { sampleGateway } from './sample.ts';

const sample = await sampleGateway();
t.teardown(() => sample.gateway.close());

/** Warnings that stay, each with its reason. */
const accepted = new Map([
  ['no-server-example.com', 'a gateway that was given no PUBLIC_URL is on the local host'],
  ['no-ambiguous-paths', 'the specification has fixed paths beside templates: /messages/wait'],
]);

t.test('the document', async (t) => {
  const answer = await fetch(`${sample.baseUrl}/docs/openapi.yaml`);
  t.equal(answer.status, 200, 'needs no key');
  t.equal(answer.headers.get('content-type'), 'application/yaml; charset=utf-8');
  const yaml = await answer.text();
  const document = parse(yaml);
  t.match(document, {
    openapi: '3.1.0',
    info: { version: '1.0.0' },
    servers: [{ url: sample.baseUrl }],
    security: [{ ApiKey: [] }, { Bearer: [] }],
    components: {
      securitySchemes: {
        ApiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        Bearer: { type: 'http', scheme: 'bearer' },
      },
    },
  });
  t.strictSame(
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods as object).map((method) => `${method} ${path}`),
    ),
    [
      'get /things',
      'post /things',
      'get /things/wait',
      'get /things/{id}',
      'delete /things/{id}',
      'post /broken-answer',
      'put /webhooks/{code}',
    ],
  );
  t.strictSame(Object.keys(document.paths['/things'].post.responses), [
    ...['202', '400', '401', '403', '404', '413', '415', '429', '500', '503'],
  ]);
  t.strictSame(document.paths['/things'].post.responses['413'], {
    $ref: '#/components/responses/PayloadTooLarge413',
  });
  t.match(document.paths['/things'].post.responses['429'].content['application/json'], {
    schema: {
      type: 'object',
      properties: { error_code: { type: 'string', enum: ['rate_limited', 'daily_send_cap'] } },
      required: ['error_code', 'error', 'retry_after_s'],
    },
    examples: { daily_send_cap: { value: { error_code: 'daily_send_cap', retry_after_s: 30 } } },
  });
  const { SampleThing, SampleContact } = document.components.schemas;
  t.strictSame(SampleThing.properties.author, { $ref: '#/components/schemas/SampleContact' });
  t.strictSame(SampleThing.properties.contact, {
    anyOf: [{ $ref: '#/components/schemas/SampleContact' }, { type: 'null' }],
  });
  t.strictSame(SampleContact.properties.phone, { type: ['string', 'null'] });
  t.strictSame(await (await fetch(`${sample.baseUrl}/docs/openapi.json`)).json(), document);
  for (const encoding of ['br', 'gzip']) {
    const compressed = await fetch(`${sample.baseUrl}/docs/openapi.yaml`, {
      headers: { 'accept-encoding': encoding },
    });
    t.equal(compressed.headers.get('content-encoding'), encoding);
    t.equal(await compressed.text(), yaml);
  }

  const problems = await lintOpenApi(yaml);
  t.strictSame(
    problems.filter(({ ruleId, severity }) => severity === 'error' || !accepted.has(ruleId)),
    [],
    'an independent linter finds nothing',
  );
  const broken = yaml.replaceAll('#/components/schemas/SampleThing', '#/components/schemas/Gone');
  t.match((await lintOpenApi(broken))[0], { severity: 'error', ruleId: 'no-unresolved-refs' });
});

t.test('the page loads nothing from another host', async (t) => {
  const answer = await fetch(`${sample.baseUrl}/docs`);
  t.match(answer.headers.get('content-security-policy'), /default-src 'none'; script-src 'self'/);
  const html = await answer.text();
  const addresses = [...html.matchAll(/(?:src|href)="(?!data:)([^"]*)"/g)].map(
    ([, address]) => address ?? '',
  );
  t.equal(addresses.length, 5);
  for (const address of addresses) {
    const url = new URL(address, `${sample.baseUrl}/docs`);
    t.equal(url.origin, sample.origin, address);
    const file = await fetch(url);
    t.equal(file.status, 200, address);
    t.ok((await file.arrayBuffer()).byteLength > 0);
  }
  const start = await (await fetch(`${sample.baseUrl}/docs/assets/start.js`)).text();
  t.match(start, /withDefaultFonts: false/);
  t.match(start, /telemetry: false/);
  t.notMatch(start, /https?:/);
  const reference = `${sample.baseUrl}/docs/assets/reference.js`;
  const [packed, plain] = await Promise.all(
    ['br', 'br;q=0, identity'].map((encoding) =>
      fetch(reference, { headers: { 'accept-encoding': encoding } }),
    ),
  );
  t.equal(packed?.headers.get('content-encoding'), 'br');
  t.equal(plain?.headers.get('content-encoding'), null);
  t.equal(await packed?.text(), await plain?.text());
  const moved = await fetch(`${sample.baseUrl}/docs/`);
  t.equal(moved.url, `${sample.baseUrl}/docs`);
  for (const path of ['/', '/docs']) {
    const led = await fetch(`${sample.origin}${path}`, { redirect: 'manual' });
    t.match([led.status, led.headers.get('location')], [302, 'v1/docs'], `${path} leads to it`);
  }
  for (const other of ['index.html', 'package.json', '../package.json', '%2e%2e%2fpackage.json']) {
    const refused = await fetch(`${sample.baseUrl}/docs/assets/${other}`);
    t.equal(refused.status, 404, `${other} is not served`);
  }
});

t.test('an answer may gain fields, a request may not', async (t) => {
  const shared = new SharedSchemas();
  const Closed = Type.Object({ a: Type.String() }, { additionalProperties: false });
  t.match(shared.place(Closed), { additionalProperties: false });
  t.notOk('additionalProperties' in shared.placeOpen(Closed));
  const Counts = Type.Record(Type.String(), Type.Integer());
  t.strictSame(
    shared.placeOpen(Counts),
    shared.place(Counts),
    'the values of a map keep their type',
  );
});

t.test(
  'one field at least is a choice between objects, for which generators have types',
  async (t) => {
    const properties = { a: Type.String(), b: Type.String(), c: Type.Optional(Type.String()) };
    const schema = {
      type: 'object',
      properties,
      additionalProperties: false,
      description: 'either',
      anyOf: [{ required: ['a'] }, { required: ['b'] }],
    };
    const of = (name: string) => ({
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' }, c: { type: 'string' } },
      required: [name],
      additionalProperties: false,
    });
    t.strictSame(new SharedSchemas().place(schema), {
      description: 'either',
      anyOf: [of('a'), of('b')],
    });
  },
);

t.test('shared schemas', async (t) => {
  const shared = new SharedSchemas();
  const Kind = Type.String({ $id: 'Kind', enum: ['a', 'b'] });
  t.strictSame(shared.place(Kind), { $ref: '#/components/schemas/Kind' });
  t.strictSame(shared.place({ ...Kind, description: 'of this' }), {
    $ref: '#/components/schemas/Kind',
    description: 'of this',
  });
  t.strictSame(shared.place(Nullable(Kind)), {
    anyOf: [{ $ref: '#/components/schemas/Kind' }, { type: 'null' }],
  });
  t.strictSame(shared.all(), { Kind: { type: 'string', enum: ['a', 'b'] } });
  t.throws(() => shared.place(Type.Integer({ $id: 'Kind' })), {
    message: 'two different schemas are called "Kind"',
  });
});

t.test('chapters: those of the specification, then those of plugins', async (t) => {
  const own = { name: 'Things', description: 'Of a plugin.' };
  const [operation] = sample.gateway.app.operations.all();
  if (operation === undefined) throw new Error('the sample has operations');
  const tags = (...groups: (typeof own | 'usage' | 'messages')[]) =>
    tagsOf(groups.map((group) => ({ ...operation, group }))).map(({ name }) => name);
  t.strictSame(tags(own, 'usage', { ...own }, 'messages'), ['Messages', 'Usage', 'Things']);
  const other = { ...own, description: 'Of another.' };
  t.throws(() => tags(own, other), { message: /two different groups.*"Things"/ });
  t.throws(() => tags({ ...other, name: 'Usage' }), { message: /"Usage"/ });
});
