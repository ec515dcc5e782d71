import { isDeepStrictEqual } from 'node:util';
import type { JsonSchema } from '../../../core/schemas.ts';
import { mapSchema, plainSchema } from '../schemas.ts';

/** Keywords that describe a schema without changing what it accepts. */
const annotations = ['description', 'title', 'examples', 'default', 'deprecated'];

/**
 * The schemas that the document shares: whatever carries an `$id` is moved to `components.schemas` under
 * that name, and a reference takes its place.
 */
export class SharedSchemas {
  readonly #schemas = new Map<string, JsonSchema>();

  /**
   * A schema as the document shows it.
   * @throws Error when two different schemas carry the same `$id`
   */
  place(schema: object): JsonSchema {
    return mapSchema(plainSchema(schema), (inner) => this.#share(alternatives(inner)));
  }

  /**
   * The schema of an answer: open, so that a client made today goes on to work when a field is added.
   * @throws Error when two different schemas carry the same `$id`
   */
  placeOpen(schema: object): JsonSchema {
    return mapSchema(plainSchema(schema), ({ additionalProperties, ...inner }) =>
      this.#share(
        additionalProperties === undefined || additionalProperties === false
          ? inner
          : { ...inner, additionalProperties },
      ),
    );
  }

  /** Everything shared so far, by name. */
  all(): Record<string, JsonSchema> {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #share({ $id: name, ...schema }: JsonSchema): JsonSchema {
    if (typeof name !== 'string') return schema;
    const plain = withoutNull(schema);
    const known = this.#schemas.get(name);
    if (known === undefined) this.#schemas.set(name, plain);
    else if (!isDeepStrictEqual(bare(known), bare(plain))) {
      throw new Error(`two different schemas are called "${name}"`);
    }
    const reference = { $ref: `#/components/schemas/${name}` };
    const own = annotations.filter(
      (keyword) =>
        plain[keyword] !== undefined &&
        known !== undefined &&
        !isDeepStrictEqual(known[keyword], plain[keyword]),
    );
    const remarks = Object.fromEntries(own.map((keyword) => [keyword, plain[keyword]]));
    return plain === schema
      ? { ...reference, ...remarks }
      : { anyOf: [reference, { type: 'null' }], ...remarks };
  }
}

/** What `Nullable` made of a plain type, undone; the same object when it was not nullable. */
function withoutNull(schema: JsonSchema): JsonSchema {
  const { type } = schema;
  if (!Array.isArray(type) || !type.includes('null')) return schema;
  const types = type.filter((name) => name !== 'null');
  return {
    ...schema,
    type: types.length === 1 ? types[0] : types,
    ...(Array.isArray(schema.enum) ? { enum: schema.enum.filter((value) => value !== null) } : {}),
  };
}

/**
 * An object of which one field at least is required, spelled as the choice between objects that generators of clients
 * have types for: they know nothing of `required` alone.
 */
function alternatives(schema: JsonSchema): JsonSchema {
  const { anyOf, properties, type, required, additionalProperties, ...rest } = schema;
  if (properties === undefined || !Array.isArray(anyOf) || !anyOf.every(isRequiredOnly))
    return schema;
  const choices = anyOf.map((choice) => ({
    type,
    properties,
    required: [...(Array.isArray(required) ? required : []), ...choice.required],
    ...(additionalProperties === undefined ? {} : { additionalProperties }),
  }));
  return { ...rest, anyOf: choices };
}

function isRequiredOnly(schema: JsonSchema): boolean {
  return Object.keys(schema).join() === 'required';
}

function bare(schema: JsonSchema): JsonSchema {
  return Object.fromEntries(
    Object.entries(schema).filter(([keyword]) => !annotations.includes(keyword)),
  );
}
