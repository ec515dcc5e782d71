import { ConfigError } from './error.ts';
import {
  eachField,
  expected,
  type FieldPath,
  type FieldSchema,
  memberSchema,
  rootSchema,
  typesOf,
} from './fields.ts';

/** Variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** One value found in the environment. */
export interface Setting {
  /** The variable's name. */
  readonly variable: string;
  readonly path: FieldPath;
  readonly value: unknown;
}

const own = new Map<string, { path: FieldPath; schema: FieldSchema }>();
eachField((path, schema) => {
  if (schema['x-env'] !== undefined) own.set(schema['x-env'], { path, schema });
});

/**
 * Every setting that the environment holds, wider ones before narrower ones (`GATEWAY_PLANS` before
 * `GATEWAY_PLANS__FREE__SENDS_CAP`) and a field's own variable last. An empty variable counts as absent.
 * @throws ConfigError for a `GATEWAY_` variable that names no field
 */
export function environmentSettings(env: Environment): readonly Setting[] {
  const generic: Setting[] = [];
  const named: Setting[] = [];
  for (const [variable, text] of Object.entries(env)) {
    if (text === undefined || text === '' || variable === 'GATEWAY_CONFIG') continue;
    const field = own.get(variable);
    if (field !== undefined) {
      named.push({ variable, path: field.path, value: parse(variable, field.schema, text) });
    } else if (variable.startsWith('GATEWAY_')) {
      const { path, schema } = findField(variable);
      generic.push({ variable, path, value: parse(variable, schema, text) });
    }
  }
  generic.sort((one, other) => one.path.length - other.path.length);
  return [...generic, ...named];
}

function findField(variable: string): { path: FieldPath; schema: FieldSchema } {
  const path: string[] = [];
  let schema: FieldSchema = rootSchema;
  for (const part of variable.slice('GATEWAY_'.length).toLowerCase().split('__')) {
    const member = memberSchema(schema, part);
    path.push(part);
    if (member === undefined) {
      throw new ConfigError(path.join('.'), `${variable}: ${noSuchField(schema, path)}.`);
    }
    schema = member;
  }
  return { path, schema };
}

/** Says which fields there are where an unknown one was named. */
export function noSuchField(parent: FieldSchema, path: FieldPath): string {
  const names = Object.keys(parent.properties ?? {}).join(', ');
  const subject = path.length > 1 ? `"${path.slice(0, -1).join('.')}" has` : 'there are';
  const known = names === '' ? '' : `; ${subject} ${names}`;
  return `there is no field "${path.join('.')}"${known}`;
}

function parse(variable: string, schema: FieldSchema, text: string): unknown {
  const [type] = typesOf(schema);
  if (type === 'string') return text;
  if (type === 'array' && !text.trimStart().startsWith('[')) {
    return text.split(',').map((item) => item.trim());
  }
  try {
    return JSON.parse(text);
  } catch {
    // A number or a truth value in other words is refused by the schema, which knows what to say.
    if (type !== 'array' && type !== 'object') return text;
    throw new ConfigError(variable, `${variable} must be ${expected(schema)}, written as JSON.`);
  }
}
