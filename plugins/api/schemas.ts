import { isJsonObject } from '../../core/json-object.ts';
import type { JsonSchema } from '../../core/schemas.ts';

/** Keywords with values, not schemas. */
const valueKeywords = new Set(['enum', 'const', 'default', 'examples', 'required']);

/** A schema as plain data, free of what TypeBox hides in it. */
export function plainSchema(schema: object): JsonSchema {
  const plain: JsonSchema = JSON.parse(JSON.stringify(schema));
  return plain;
}

/** Visits the schema and every schema inside it from the innermost outwards; each visit may replace it. */
export function mapSchema(
  schema: JsonSchema,
  visit: (schema: JsonSchema) => JsonSchema,
): JsonSchema {
  const inner = Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [keyword, mapKeyword(keyword, value, visit)]),
  );
  return visit(inner);
}

function mapKeyword(
  keyword: string,
  value: unknown,
  visit: (schema: JsonSchema) => JsonSchema,
): unknown {
  if (valueKeywords.has(keyword)) return value;
  if (Array.isArray(value)) {
    return value.map((item) => (isJsonObject(item) ? mapSchema(item, visit) : item));
  }
  if (!isJsonObject(value)) return value;
  if (keyword !== 'properties' && keyword !== 'patternProperties' && keyword !== '$defs') {
    return mapSchema(value, visit);
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, property]) => [
      name,
      isJsonObject(property) ? mapSchema(property, visit) : property,
    ]),
  );
}

/** The schema without the names (`$id`) under which the documentation shares it: validators need none. */
export function withoutNames(schema: object): JsonSchema {
  return mapSchema(plainSchema(schema), ({ $id: _, ...rest }) => rest);
}

/** @throws Error naming an object in a request schema that would let unknown fields pass */
export function refuseOpen(schema: JsonSchema, location: string): void {
  mapSchema(schema, (inner) => {
    if (inner.properties !== undefined && inner.type !== undefined) {
      if (inner.additionalProperties === undefined) {
        const names = Object.keys(inner.properties as object).join(', ');
        throw new Error(`${location} has an open object (${names}): make it with Closed()`);
      }
    }
    return inner;
  });
}
