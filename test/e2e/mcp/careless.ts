import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import type { JsonObject } from '../../harness/openapi.ts';
import { rightValue } from '../../harness/right-requests.ts';

/** Arguments that a careless agent sends, and the argument that the answer must name. */
export interface CarelessCall {
  readonly what: string;
  readonly args: unknown;
  readonly path: string;
}

type Properties = Readonly<Record<string, JsonObject>>;

/** All that is commonly wrong, for one tool: made from its schema, so that it holds for every tool there is. */
export function carelessCalls({ inputSchema }: Tool): readonly CarelessCall[] {
  const properties = (inputSchema.properties ?? {}) as Properties;
  const required = inputSchema.required ?? [];
  const right = rightValue(inputSchema as JsonObject, null) as Readonly<Record<string, unknown>>;
  const { body: bodySchema } = properties;
  const calls: CarelessCall[] = [
    { what: 'an extra argument', args: { ...right, please: true }, path: 'please' },
    { what: 'arguments in a string', args: JSON.stringify(right), path: '' },
    { what: 'arguments in a list', args: [right], path: '' },
  ];
  for (const name of required) {
    const { [name]: value, ...rest } = right;
    const wrong = `${name}_value`;
    calls.push({ what: `${name} missing`, args: rest, path: name });
    calls.push({ what: `${name} called ${wrong}`, args: { ...rest, [wrong]: value }, path: wrong });
  }
  for (const [name, schema] of Object.entries(properties)) {
    calls.push({ what: `${name} null`, args: { ...right, [name]: null }, path: name });
    if (name === 'body') continue;
    const isText = schema.type === 'string';
    const value = isText ? 5 : String(rightValue(schema, null));
    const what = `${name} as ${typeof value}`;
    calls.push({ what, args: { ...right, [name]: value }, path: name });
  }
  if (bodySchema !== undefined) calls.push(...carelessBodies(right, bodySchema));
  return calls;
}

function* carelessBodies(
  right: Readonly<Record<string, unknown>>,
  schema: JsonObject,
): Generator<CarelessCall> {
  const body = (right.body ?? rightValue(schema, null)) as Readonly<Record<string, unknown>>;
  const { body: _, ...rest } = right;
  const fields = (schema.properties ?? {}) as Properties;
  yield { what: 'body as a string', args: { ...rest, body: JSON.stringify(body) }, path: 'body' };
  yield { what: 'body in a list', args: { ...rest, body: [body] }, path: 'body' };
  const extra = { ...body, please: true };
  yield { what: 'an extra field', args: { ...rest, body: extra }, path: 'body/please' };
  for (const [name, field] of Object.entries(fields)) {
    const right = rightValue(field, null);
    yield { what: `${name} beside body`, args: { ...rest, [name]: right }, path: name };
    const wrong = field.type === 'string' ? 5 : JSON.stringify(right);
    const wrongBody = { ...body, [name]: wrong };
    yield {
      what: `body.${name} as ${typeof wrong}`,
      args: { ...rest, body: wrongBody },
      path: `body/${name}`,
    };
  }
}
