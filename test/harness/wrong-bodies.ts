import type { Document, DocumentOperation, JsonObject } from './openapi.ts';
import { json, resolve } from './right-requests.ts';
import type { Mistake } from './wrong-input.ts';
import { wrongValues } from './wrong-values.ts';

/** Wrong bodies for an operation that has one; `right` is a right one. */
export function* bodyMistakes(
  operation: DocumentOperation,
  right: string | null,
  document: Document,
  bodyLimit: number,
): Generator<Mistake> {
  const text = right ?? '{}';
  const bad = (what: string, body: string | Uint8Array<ArrayBuffer>): Mistake => ({
    what: `body: ${what}`,
    body,
    statuses: [400],
  });
  if (operation.requestBody?.required !== false) yield bad('none', '');
  yield bad('cut off', text.slice(0, -1));
  yield bad('with something after it', `${text}x`);
  yield bad('in single quotes', "{'a':1}");
  yield bad('with a comment', `/* */${text}`);
  yield bad('with a byte order mark', `\ufeff${text}`);
  yield bad('in UTF-16', Uint8Array.from(Buffer.from(text, 'utf16le')));
  yield bad('invalid UTF-8', Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]));
  yield bad('with NUL', '{"no_such_field":"\\u0000"}');
  yield bad('with half a surrogate pair', '{"no_such_field":"\\ud800"}');
  yield bad('with a raw control character', '{"no_such_field":"\n"}');
  yield bad('with __proto__', '{"__proto__":{"a":1}}');
  yield bad('with constructor', '{"constructor":{"prototype":{"a":1}}}');
  yield bad('with a key twice', '{"no_such_field":1,"no_such_field":1}');
  yield bad('nested deeply', `${'['.repeat(bodyLimit / 2)}${']'.repeat(bodyLimit / 2)}`);
  yield bad('never closed', '['.repeat(bodyLimit));
  for (const body of ['null', '[]', '"text"', '7', 'true']) yield bad(body, body);
  const wrongType = { body: text, statuses: [415] };
  for (const type of [
    'text/plain',
    'application/xml',
    'multipart/form-data',
    'json',
    'application/json; charset=utf-16',
  ]) {
    yield { what: `body: as ${type}`, headers: { 'content-type': type }, ...wrongType };
  }
  yield { what: 'body: as gzip', headers: { 'content-encoding': 'gzip' }, ...wrongType };
  yield { what: 'body: too large', body: ' '.repeat(bodyLimit + 1), statuses: [413] };

  const media = operation.requestBody?.content['application/json'];
  const schema = resolve(media?.schema ?? {}, document);
  for (const { what, value } of fieldMistakes(schema, JSON.parse(text), document, '')) {
    yield bad(what, JSON.stringify(value));
  }
}

/** The right object with one wrong field each, fields of inner objects included. */
function* fieldMistakes(
  schema: JsonObject,
  right: Readonly<Record<string, unknown>>,
  document: Document,
  prefix: string,
): Generator<{ readonly what: string; readonly value: Record<string, unknown> }> {
  const properties = (schema.properties ?? {}) as Record<string, JsonObject>;
  yield { what: `${prefix}no_such_field`, value: { ...right, no_such_field: 1 } };
  for (const name of (schema.required ?? []) as readonly string[]) {
    const { [name]: _, ...rest } = right;
    yield { what: `${prefix}${name} missing`, value: rest };
  }
  for (const [name, given] of Object.entries(properties)) {
    const property = resolve(given, document);
    for (const { what, value } of wrongValues(property)) {
      yield { what: `${prefix}${name} ${what}`, value: { ...right, [name]: value } };
    }
    const inner = right[name];
    if ([property.type].flat().includes('object') && typeof inner === 'object' && inner !== null) {
      const fields = inner as Readonly<Record<string, unknown>>;
      for (const { what, value } of fieldMistakes(
        property,
        fields,
        document,
        `${prefix}${name}.`,
      )) {
        yield { what, value: { ...right, [name]: value } };
      }
    }
    if (property.type === 'array') {
      const items = resolve((property.items ?? {}) as JsonObject, document);
      for (const { what, value } of wrongValues(items)) {
        yield {
          what: `${prefix}${name} with an item ${what}`,
          value: { ...right, [name]: [value] },
        };
      }
    }
  }
}

/** Bodies for an operation that has none. */
export function* needlessBodies(bodyLimit: number): Generator<Mistake> {
  yield { what: 'a needless body', headers: json, body: '{"a":1}', statuses: [400] };
  yield {
    what: 'a needless text',
    headers: { 'content-type': 'text/plain' },
    body: 'x',
    statuses: [400],
  };
  yield {
    what: 'a needless large body',
    headers: json,
    body: ' '.repeat(bodyLimit + 1),
    statuses: [413],
  };
}
