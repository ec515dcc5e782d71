import { Ajv, type ErrorObject } from 'ajv';
import { ConfigError } from './error.ts';
import { expected, type FieldPath, isGroup, schemaAt, variableOf } from './fields.ts';
import { configSchema, type GatewayConfig } from './schema.ts';
import { type Tree, valueAt } from './tree.ts';

// One value is checked a start: validating the schema itself, or compiling for speed, would only take time.
const validate = new Ajv({
  strict: false,
  validateSchema: false,
  code: { optimize: false },
}).compile<GatewayConfig>(configSchema);

/**
 * Answers the tree as a configuration when it is one.
 * @param origins which variable or file set the field at a path
 * @throws ConfigError that names the first wrong field, where it was set and what is expected
 */
export function refuseWrongValues(tree: Tree, origins: ReadonlyMap<string, string>): GatewayConfig {
  if (validate(tree)) return tree;
  const error = validate.errors?.[0];
  if (error === undefined) throw new Error('the configuration is wrong for an unknown reason');
  throw refusal(tree, error, origins);
}

function refusal(tree: Tree, error: ErrorObject, origins: ReadonlyMap<string, string>) {
  const path = pathOf(error);
  const schema = schemaAt(path) ?? {};
  const field = path.join('.');
  const value = valueAt(tree, path);
  if (value === undefined) {
    const variable = variableOf(path, schema);
    return new ConfigError(
      field,
      `${field} (${variable}) is missing; it must be ${expected(schema)}.`,
    );
  }
  const origin = originOf(path, origins);
  const source = origin === undefined ? '' : ` (${origin})`;
  const found = isGroup(schema) || isSecret(path) ? '' : `, not ${JSON.stringify(value)}`;
  return new ConfigError(field, `${field}${source} must be ${expected(schema)}${found}.`);
}

/** The field that an error is about: a missing one itself, a wrong item's list. */
function pathOf(error: ErrorObject): FieldPath {
  const path = error.instancePath.split('/').slice(1);
  if (error.keyword === 'required') path.push(String(error.params.missingProperty));
  const known = path.findIndex((_, index) => schemaAt(path.slice(0, index + 1)) === undefined);
  return known === -1 ? path : path.slice(0, known);
}

function isSecret(path: FieldPath): boolean {
  return path.some((_, index) => schemaAt(path.slice(0, index + 1))?.['x-secret'] !== undefined);
}

function originOf(path: FieldPath, origins: ReadonlyMap<string, string>): string | undefined {
  for (let length = path.length; length > 0; length -= 1) {
    const origin = origins.get(path.slice(0, length).join('.'));
    if (origin !== undefined) return origin;
  }
  return undefined;
}
