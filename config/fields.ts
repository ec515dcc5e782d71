import { configSchema } from './schema.ts';

/** A schema of the configuration: the words of JSON Schema and the `x-` keywords in use. */
export interface FieldSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly patternProperties?: Readonly<Record<string, FieldSchema>>;
  readonly required?: readonly string[];
  readonly items?: FieldSchema;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly description?: string;
  readonly default?: unknown;
  readonly 'x-env'?: string;
  readonly 'x-unit'?: string;
  readonly 'x-expected'?: string;
  readonly 'x-default'?: string;
  readonly 'x-secret'?: 'all' | 'password';
}

/** The path of a field: names from the top, `['limits', 'waits']`. */
export type FieldPath = readonly string[];

/** The whole configuration's schema. */
// TypeBox' types say more than a walk over the schema needs; as data it is plain JSON Schema.
export const rootSchema = configSchema as unknown as FieldSchema;

/** The schema of a member, or undefined when the schema allows no such member. */
export function memberSchema(schema: FieldSchema, name: string): FieldSchema | undefined {
  if (name === '__proto__') return undefined;
  if (schema.properties !== undefined) {
    return Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
  }
  for (const [pattern, member] of Object.entries(schema.patternProperties ?? {})) {
    if (new RegExp(pattern).test(name)) return member;
  }
  return undefined;
}

/** The schema at a path, or undefined. */
export function schemaAt(path: FieldPath): FieldSchema | undefined {
  let schema: FieldSchema | undefined = rootSchema;
  for (const name of path) schema = schema && memberSchema(schema, name);
  return schema;
}

/** The types that a schema allows, `null` left out. */
export function typesOf(schema: FieldSchema): readonly string[] {
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? []);
  return types.filter((type) => type !== 'null');
}

/** Whether members can be set one by one. */
export function isGroup(schema: FieldSchema): boolean {
  return schema.properties !== undefined || schema.patternProperties !== undefined;
}

/** Calls back for every field that is named in the schema, groups left out; `NAME` is a placeholder for any name. */
export function eachField(
  visit: (path: FieldPath, schema: FieldSchema) => void,
  schema: FieldSchema = rootSchema,
  path: FieldPath = [],
): void {
  if (schema.properties !== undefined) {
    for (const [name, member] of Object.entries(schema.properties)) {
      eachField(visit, member, [...path, name]);
    }
    return;
  }
  const named = Object.values(schema.patternProperties ?? {}).find(isGroup);
  if (named !== undefined) eachField(visit, named, [...path, 'NAME']);
  else visit(path, schema);
}

/** The variable that sets the field at this path: its own, or the one made from its path. */
export function variableOf(path: FieldPath, schema: FieldSchema): string {
  return schema['x-env'] ?? `GATEWAY_${path.join('__').toUpperCase()}`;
}

/** What a value of this schema must be, in words that follow "must be". */
export function expected(schema: FieldSchema): string {
  if (schema['x-expected'] !== undefined) return schema['x-expected'];
  if (schema.enum !== undefined) {
    return `one of ${schema.enum.filter((value) => value !== null).join(', ')}`;
  }
  const [type] = typesOf(schema);
  if (type === 'integer') return `a whole number${range(schema)}`;
  if (type === 'number') return `a number${range(schema)}`;
  if (type === 'boolean') return 'true or false';
  if (type === 'array') return `a list, each ${expected(schema.items ?? {})}`;
  if (type === 'object') return 'an object';
  return 'text that is not empty';
}

function range({ minimum, maximum }: FieldSchema): string {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  return minimum === undefined ? '' : ` of at least ${minimum}`;
}
