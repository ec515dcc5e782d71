import type { Document, DocumentOperation, DocumentParameter, JsonObject } from './openapi.ts';

/** The headers of a request with a JSON body. */
export const json = { 'content-type': 'application/json' };

/** A request that the document allows: from the operation's example, else from its schemas. */
export function rightRequest(template: string, operation: DocumentOperation, document: Document) {
  const body = rightBody(operation, document);
  return {
    path: fill(template, operation),
    headers: body === undefined ? {} : json,
    body: body === undefined ? null : JSON.stringify(body),
  };
}

/** The path of a template, its parameters from `texts` where given, else right ones. */
export function fill(
  template: string,
  { parameters = [] }: DocumentOperation,
  texts: Readonly<Record<string, string>> = {},
): string {
  return template.replaceAll(/\{([^}]+)\}/g, (_, name: string) => {
    const parameter = parameters.find((each) => each.name === name && each.in === 'path');
    return texts[name] ?? encodeURIComponent(String(rightParameter(parameter)));
  });
}

function rightParameter(parameter: DocumentParameter | undefined): unknown {
  const [example] = Object.values(parameter?.examples ?? {});
  return example?.value ?? rightValue(parameter?.schema ?? {}, null);
}

function rightBody({ requestBody }: DocumentOperation, document: Document): unknown {
  const media = requestBody?.content['application/json'];
  if (media === undefined) return undefined;
  const [example] = Object.values(media.examples ?? {});
  return example?.value ?? rightValue(media.schema, document);
}

/** A value that a simple schema allows. */
export function rightValue(given: JsonObject, document: Document | null): unknown {
  const schema = resolve(given, document);
  const [example] = (schema.examples as readonly unknown[] | undefined) ?? [];
  if (example !== undefined) return example;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const [type] = [schema.type].flat();
  if (type === 'integer' || type === 'number') return schema.minimum ?? 1;
  if (type === 'boolean') return true;
  if (type === 'array') return [rightValue((schema.items ?? {}) as JsonObject, document)];
  if (type === 'object') {
    const properties = (schema.properties ?? {}) as Record<string, JsonObject>;
    const required = (schema.required ?? []) as readonly string[];
    return Object.fromEntries(
      required.map((name) => [name, rightValue(properties[name] ?? {}, document)]),
    );
  }
  return 'x'.repeat(Number(schema.minLength ?? 1));
}

/** The schema itself where the given one only refers to it. */
export function resolve(schema: JsonObject, document: Document | null): JsonObject {
  if (typeof schema.$ref !== 'string' || document === null) return schema;
  return schema.$ref
    .slice(2)
    .split('/')
    .reduce<unknown>((value, part) => (value as JsonObject)[part], document) as JsonObject;
}
