import type { RawRequest } from './client.ts';
import type { Document, DocumentOperation } from './openapi.ts';
import { fill, rightRequest } from './right-requests.ts';
import { bodyMistakes, needlessBodies } from './wrong-bodies.ts';
import { wrongTexts } from './wrong-values.ts';

/** A request that every gateway must refuse with a 4xx in the error shape. */
export interface WrongInput extends RawRequest {
  readonly operation: string;
  /** What is wrong with it: the name of the test. */
  readonly what: string;
  /** The only statuses that are right; any 4xx when absent. */
  readonly statuses?: readonly number[];
}

/** What one mistake changes in a right request. */
export type Mistake = Omit<WrongInput, 'operation' | 'method' | 'path'> & {
  readonly path?: string;
};

/**
 * Wrong requests to every operation of a document that takes an API key: wrong types, missing, unknown, too long, out of range,
 * wrong encodings and content types. All are made from a right request (the operation's example, or
 * values that its schemas allow) by one mistake each.
 * @param bodyLimit the gateway's largest body, in bytes
 */
export function* wrongInput(document: Document, bodyLimit = 262_144): Generator<WrongInput> {
  for (const [template, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (operation.security !== undefined) continue;
      const right = rightRequest(template, operation, document);
      const mistakes = [
        ...pathMistakes(template, operation),
        ...queryMistakes(right.path, operation),
        ...headerMistakes(operation),
        ...(operation.requestBody === undefined
          ? needlessBodies(bodyLimit)
          : bodyMistakes(operation, right.body, document, bodyLimit)),
      ];
      for (const mistake of mistakes) {
        if (method === 'get' && mistake.body !== undefined) continue; // fetch cannot send it
        yield {
          operation: operation.operationId,
          method: method.toUpperCase(),
          ...right,
          ...mistake,
          headers: { ...right.headers, ...mistake.headers },
        };
      }
    }
  }
}

function* pathMistakes(template: string, operation: DocumentOperation): Generator<Mistake> {
  const names = [...template.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name ?? '');
  for (const name of names) {
    const put = (text: string) => fill(template, operation, { [name]: text });
    const schema = operation.parameters?.find((each) => each.name === name)?.schema ?? {};
    yield { what: `path ${name}: half an escape`, path: put('%'), statuses: [400] };
    yield { what: `path ${name}: a wrong escape`, path: put('%zz'), statuses: [400] };
    yield { what: `path ${name}: invalid UTF-8`, path: put('%ff'), statuses: [400] };
    yield { what: `path ${name}: NUL`, path: put('%00'), statuses: [400] };
    yield { what: `path ${name}: 501 characters`, path: put('1'.repeat(501)), statuses: [414] };
    yield {
      what: `path ${name}: 20,000 characters`,
      path: put('1'.repeat(20_000)),
      statuses: [414],
    };
    for (const { what, text } of wrongTexts(schema).filter(({ text }) => text !== '')) {
      yield { what: `path ${name}: ${what}`, path: put(encodeURIComponent(text)) };
    }
  }
  const path = fill(template, operation);
  yield { what: 'a slash too many', path: `${path}/`, statuses: [404] };
  yield { what: 'a path too many', path: `${path}/no-such/path`, statuses: [404] };
}

function* queryMistakes(path: string, operation: DocumentOperation): Generator<Mistake> {
  const put = (query: string) => ({ path: `${path}?${query}`, statuses: [400] });
  yield { what: 'an unknown query parameter', ...put('no_such_parameter=1') };
  yield { what: 'a query parameter called __proto__', ...put('__proto__=1') };
  yield { what: 'a query with a wrong escape', ...put('no_such_parameter=%zz') };
  for (const { name, schema } of (operation.parameters ?? []).filter(
    (each) => each.in === 'query',
  )) {
    yield { what: `query ${name}: twice`, ...put(`${name}=1&${name}=1`) };
    yield { what: `query ${name}: invalid UTF-8`, ...put(`${name}=%ff`) };
    yield { what: `query ${name}: NUL`, ...put(`${name}=%00`) };
    for (const { what, text } of wrongTexts(schema)) {
      yield { what: `query ${name}: ${what}`, ...put(`${name}=${encodeURIComponent(text)}`) };
    }
  }
}

function* headerMistakes(operation: DocumentOperation): Generator<Mistake> {
  yield { what: 'a wrong key', headers: { 'x-api-key': 'wrong' }, statuses: [401] };
  yield { what: 'two keys', headers: { authorization: 'Bearer another' }, statuses: [401] };
  for (const { name, schema } of (operation.parameters ?? []).filter(
    (each) => each.in === 'header',
  )) {
    for (const { what, text } of wrongTexts(schema).filter(({ text }) => /^[ -~]*$/.test(text))) {
      yield { what: `header ${name}: ${what}`, headers: { [name]: text }, statuses: [400] };
    }
  }
}
