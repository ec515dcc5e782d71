import type { AnyOperation } from '../../core/operation.ts';
import type { JsonSchema } from '../../core/schemas.ts';

/** The arguments of a tool, by the part of the request that each belongs to. */
export interface ArgumentSchemas {
  /** Path parameters by name. */
  readonly params: Readonly<Record<string, JsonSchema>>;
  /** Query parameters by name. */
  readonly query: Readonly<Record<string, JsonSchema>>;
  /** Headers by the argument that names them: `idempotency_key` for `Idempotency-Key`. */
  readonly headers: Readonly<Record<string, JsonSchema>>;
  /** The argument `body`; null when the operation defines none. */
  readonly body: JsonSchema | null;
  /** The arguments that must be given. */
  readonly required: readonly string[];
}

/** The longest path parameter; the router takes no longer one either. */
export const longestParam = 500;

/** The description of `body` in every tool. */
const bodyNote = 'A JSON object, never a string that holds JSON.';

/**
 * The schemas of a tool's arguments, from those of its operation's route.
 * @throws Error when two parts claim the same argument
 */
export function argumentSchemas(operation: AnyOperation): ArgumentSchemas {
  const params = propertiesOf(operation.params);
  const query = propertiesOf(operation.query);
  const headers = headersOf(operation);
  const names = [
    ...Object.keys(params.properties),
    ...Object.keys(query.properties),
    ...Object.keys(headers),
    ...(operation.body === null ? [] : ['body']),
  ];
  const claimed = names.find((name, index) => names.indexOf(name) !== index);
  if (claimed !== undefined) {
    throw new Error(`the tool of "${operation.id}" would have the argument "${claimed}" twice`);
  }
  const needsBody = operation.body !== null && operation.bodyOptional !== true;
  return {
    params: mapValues(params.properties, (schema) => ({
      minLength: 1,
      maxLength: longestParam,
      ...schema,
    })),
    query: query.properties,
    headers,
    body: operation.body === null ? null : bodyOf(plain(operation.body)),
    required: [...params.required, ...query.required, ...(needsBody ? ['body'] : [])],
  };
}

/**
 * The schema of what a tool's successful answers carry as `structuredContent`: the body, without a picture, which comes
 * as an image of its own.
 */
export function outputSchema({ answers, picture }: AnyOperation): ObjectSchema {
  const schemas = Object.values(answers).map((schema) => answerSchema(schema, picture));
  const [only, ...others] = schemas;
  return only !== undefined && others.length === 0 ? only : { type: 'object', anyOf: schemas };
}

/** A schema of objects, as the protocol wants them. */
type ObjectSchema = JsonSchema & { readonly type: 'object' };

function answerSchema(schema: object, picture: string | undefined): ObjectSchema {
  const { properties = {}, required = [], ...rest } = plain(schema);
  const others = Object.entries(properties as object).filter(([name]) => name !== picture);
  return {
    ...rest,
    type: 'object',
    properties: Object.fromEntries(others),
    required: (required as readonly string[]).filter((name) => name !== picture),
  };
}

/** Headers in the words of arguments; none of them has to be given. */
function headersOf({ headers = [] }: AnyOperation): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(
    headers.map(({ name, description, schema }) => [
      name.toLowerCase().replaceAll('-', '_'),
      { ...plain(schema), description },
    ]),
  );
}

function bodyOf(schema: JsonSchema): JsonSchema {
  const own = typeof schema.description === 'string' ? ` ${schema.description}` : '';
  return { ...schema, description: `${bodyNote}${own}` };
}

function propertiesOf(schema: object | null): {
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required: readonly string[];
} {
  if (schema === null) return { properties: {}, required: [] };
  const { properties = {}, required = [] } = plain(schema);
  // The schemas of path and query are objects, as the declaration's types say.
  return {
    properties: properties as Readonly<Record<string, JsonSchema>>,
    required: required as readonly string[],
  };
}

/** A schema as plain data, without what only the documentation shows: the names (`$id`) of shared ones, and examples. */
export function plain(schema: object): JsonSchema {
  const isLeft = (key: string, value: unknown) =>
    key === '$id' || (key === 'examples' && Array.isArray(value));
  return JSON.parse(
    JSON.stringify(schema, (key, value) => (isLeft(key, value) ? undefined : value)),
  );
}

function mapValues(
  values: Readonly<Record<string, JsonSchema>>,
  map: (schema: JsonSchema) => JsonSchema,
): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));
}
