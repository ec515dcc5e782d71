import { STATUS_CODES } from 'node:http';
import type { AnyOperation, OperationExample } from '../../../core/operation.ts';
import { plainSchema } from '../schemas.ts';
import type { SharedSchemas } from './components.ts';
import { tagOf } from './groups.ts';
import type { SharedRefusals } from './refusals.ts';

/** The operation object of one operation. */
export function operationObject(
  operation: AnyOperation,
  shared: SharedSchemas,
  refusals: SharedRefusals,
): object {
  const parameters = parametersOf(operation, shared);
  return {
    operationId: operation.id,
    tags: [tagOf(operation.group).name],
    summary: operation.summary,
    description: operation.description,
    'x-scope': operation.scope,
    'x-within-accounts': operation.withinAccounts === true,
    ...(operation.tool === null ? {} : { 'x-mcp-tool': operation.tool }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(operation.body === null ? {} : { requestBody: requestBody(operation, shared) }),
    ...(operation.credential === undefined ? {} : { security: [] }),
    responses: { ...answers(operation, shared), ...refusals.of(operation) },
  };
}

interface PlainObject {
  readonly properties?: Readonly<Record<string, { readonly description?: string }>>;
  readonly required?: readonly string[];
}

function parametersOf(operation: AnyOperation, shared: SharedSchemas): object[] {
  const place = (where: 'path' | 'query', schema: object | null) => {
    if (schema === null) return [];
    const { properties = {}, required = [] }: PlainObject = plainSchema(schema);
    return Object.entries(properties).map(([name, property]) => {
      const { description, ...rest } = property;
      return {
        name,
        in: where,
        required: where === 'path' || required.includes(name),
        ...(description === undefined ? {} : { description }),
        schema: shared.place(rest),
        ...parameterExamples(operation, where, name),
      };
    });
  };
  const headers = (operation.headers ?? []).map(({ name, description, schema }) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: shared.place(schema),
  }));
  return [...place('path', operation.params), ...place('query', operation.query), ...headers];
}

function parameterExamples(
  { examples, params, query }: AnyOperation,
  where: 'path' | 'query',
  name: string,
): object {
  const schema = where === 'path' ? params : query;
  const { properties = {} }: { properties?: Record<string, { type?: unknown }> } = plainSchema(
    schema ?? {},
  );
  const isText = [properties[name]?.type].flat().includes('string');
  const given = examples.flatMap((example) => {
    const text = (where === 'path' ? example.params : example.query)?.[name];
    return text === undefined ? [] : [[slug(example), { value: isText ? text : JSON.parse(text) }]];
  });
  return given.length === 0 ? {} : { examples: Object.fromEntries(given) };
}

function requestBody(operation: AnyOperation, shared: SharedSchemas): object {
  const given = operation.examples.filter(({ body }) => body !== undefined);
  return {
    required: operation.bodyOptional !== true,
    content: {
      'application/json': {
        schema: shared.place(operation.body ?? {}),
        ...exampleMap(given, ({ body }) => body),
      },
    },
  };
}

function answers(operation: AnyOperation, shared: SharedSchemas): object {
  return Object.fromEntries(
    Object.entries(operation.answers).map(([status, schema]) => {
      const given = operation.examples.filter(({ answer }) => answer.status === Number(status));
      return [
        status,
        {
          description: STATUS_CODES[status] ?? 'Success',
          headers: { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } },
          content: {
            [operation.lines ? 'application/x-ndjson' : 'application/json']: {
              schema: shared.placeOpen(schema),
              ...exampleMap(given, ({ answer }) => answer.body),
            },
          },
        },
      ];
    }),
  );
}

function exampleMap(
  examples: readonly OperationExample[],
  value: (example: OperationExample) => unknown,
): object {
  if (examples.length === 0) return {};
  return {
    examples: Object.fromEntries(
      examples.map((example) => [
        slug(example),
        { summary: example.summary, value: value(example) },
      ]),
    ),
  };
}

function slug({ summary }: OperationExample): string {
  return summary
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}
