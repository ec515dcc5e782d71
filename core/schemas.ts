import { type Static, type TProperties, type TSchema, type TUnsafe, Type } from 'typebox';

/** A JSON Schema as plain data. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** The pattern of a text that is not only blanks. */
export const notBlank = '\\S';

/** The pattern of a text that is empty or not only blanks. */
export const emptyOrNotBlank = '^$|\\S';

/** A closed object: an unknown field is an error that names it. Every request schema is made of these. */
export function Closed<Properties extends TProperties>(
  properties: Properties,
  options: Readonly<Record<string, unknown>> = {},
) {
  return Type.Object(properties, { ...options, additionalProperties: false });
}

/** A value or null, as JSON Schema 2020-12 and OpenAPI 3.1 write it for a plain type. */
export function Nullable<Schema extends TSchema>(schema: Schema): TUnsafe<Static<Schema> | null> {
  const { type, ...rest } = JSON.parse(JSON.stringify(schema)) as Record<string, unknown>;
  if (typeof type !== 'string') return Type.Unsafe({ anyOf: [schema, { type: 'null' }] });
  const values = rest.enum;
  return Type.Unsafe({
    ...rest,
    type: [type, 'null'],
    ...(Array.isArray(values) ? { enum: [...values, null] } : {}),
  });
}

/** One of a few strings. */
export function OneOf<const Values extends readonly string[]>(
  values: Values,
  options: Readonly<Record<string, unknown>> = {},
): TUnsafe<Values[number]> {
  return Type.Unsafe({ ...options, type: 'string', enum: [...values] });
}

/** How many items a page of a list has. */
export const PageLimit = Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 }));

/** Which page of a list: what follows another. */
export const PageBefore = Type.Optional(
  Type.String({ description: 'The `next_cursor` of the previous page.' }),
);

/** The cursor that an answer has for the next page. */
export const NextCursor = Nullable(
  Type.String({ description: 'null when there is no further page' }),
);

/** A moment, ISO 8601 in UTC with milliseconds. */
export const Timestamp = Type.String({
  description: 'ISO 8601 in UTC with milliseconds',
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$',
  examples: ['2026-01-31T09:30:00.000Z'],
});

/** A moment, or null when it has not come yet. */
export const NullableTimestamp = Nullable(Timestamp);

/** Cache of the last timestamp: items of one transaction have the same moment. */
let spelled = { at: Number.NaN, text: '' };

/** Milliseconds since the Unix epoch as the `Timestamp` that answers carry. */
export function timestamp(at: number): string {
  if (spelled.at !== at) spelled = { at, text: new Date(at).toISOString() };
  return spelled.text;
}

/** The same for a moment that may not have come yet. */
export function nullableTimestamp(at: number | null): string | null {
  return at === null ? null : timestamp(at);
}
