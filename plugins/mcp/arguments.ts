import { type ErrorDetail, GatewayError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json-object.ts';
import { maxDetails } from '../../core/validation-messages.ts';
import type { RequestParts } from '../api/contract.ts';
import { type ArgumentSchemas, longestParam } from './schemas.ts';

/** The arguments of a call. */
export type Arguments = Readonly<Record<string, unknown>>;

/** @throws GatewayError `invalid_request` when the arguments are no object */
export function objectOf(given: unknown): Arguments {
  if (isJsonObject(given)) return { ...given };
  const what = typeof given === 'string' ? ', not a string that holds JSON' : '';
  const message = `arguments must be an object${what}`;
  throw new GatewayError('invalid_request', { message, details: [{ path: '', message }] });
}

/**
 * Takes a tool's arguments apart into the parts of a request. What they hold is checked by the request's own
 * validation; nothing is converted or repaired.
 * @throws GatewayError `invalid_request` naming the arguments that are unknown, missing or in the wrong place, 20 at most
 */
export function partsOf(schemas: ArgumentSchemas, given: Arguments): RequestParts {
  const details: ErrorDetail[] = [];
  for (const detail of complaints(schemas, given)) {
    details.push(detail);
    if (details.length === maxDetails) break;
  }
  if (details.length > 0) {
    throw new GatewayError('invalid_request', { message: details[0]?.message, details });
  }
  return {
    params: pick(given, schemas.params),
    query: pick(given, schemas.query),
    headers: headersOf(given, schemas),
    body: schemas.body === null ? undefined : given.body,
  };
}

/** All that is wrong, found one after the other: there may be thousands of arguments. */
function* complaints(schemas: ArgumentSchemas, given: Arguments): Generator<ErrorDetail> {
  yield* unknownArguments(schemas, given);
  yield* missingArguments(schemas, given);
  for (const name of Object.keys(schemas.params)) yield* paramComplaints(name, given[name]);
  if (typeof given.body !== 'string' || schemas.body === null) return;
  const message = 'body must be an object, not a string: send the JSON itself, without quotes';
  yield { path: 'body', message };
}

function headersOf(given: Arguments, { headers }: ArgumentSchemas): Record<string, unknown> {
  const named = Object.entries(pick(given, headers));
  return Object.fromEntries(named.map(([name, value]) => [name.replaceAll('_', '-'), value]));
}

function pick(given: Arguments, names: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).filter(([name]) => Object.hasOwn(names, name)));
}

function namesOf({ params, query, headers, body }: ArgumentSchemas): readonly string[] {
  const names = [params, query, headers].flatMap((schemas) => Object.keys(schemas));
  return [...names, ...(body === null ? [] : ['body'])];
}

function* unknownArguments(schemas: ArgumentSchemas, given: Arguments): Generator<ErrorDetail> {
  const names = namesOf(schemas);
  const fields = Object.keys((schemas.body?.properties ?? {}) as object);
  const takes = names.length === 0 ? 'this tool takes none' : `this tool takes ${names.join(', ')}`;
  for (const path of Object.keys(given)) {
    if (names.includes(path)) continue;
    const shown = JSON.stringify(path.length > 100 ? `${path.slice(0, 100)}…` : path);
    const field = fields.includes(path) && `: it is a field of body, so put it inside that object`;
    const alike = names.find((name) => plainName(name) === plainName(path));
    const meant = alike !== undefined && `: ${alike} is meant, it seems`;
    yield { path, message: `there is no argument ${shown}${field || meant || `; ${takes}`}` };
  }
}

/** `phone_number`, `Phone-Number` and `phoneNumber` are alike. */
function plainName(name: string): string {
  return name.replaceAll(/[^a-z0-9]/gi, '').toLowerCase();
}

function* missingArguments(
  { required }: ArgumentSchemas,
  given: Arguments,
): Generator<ErrorDetail> {
  for (const path of required) {
    if (given[path] === undefined) yield { path, message: `${path} is required` };
  }
}

/** What a router would not even take for the path. */
function paramComplaints(path: string, value: unknown): ErrorDetail[] {
  if (value === '') return [{ path, message: `${path} must not be empty` }];
  if (typeof value !== 'string' || value.length <= longestParam) return [];
  return [{ path, message: `${path} must have at most ${longestParam} characters` }];
}

/** A refusal whose details name the parts of a request, in the words of whoever sent the arguments. */
export function inArguments(error: GatewayError, given: unknown): GatewayError {
  const { code, status, details, retryAfterS, cause } = error;
  if (details === undefined) return error;
  const named = details.map((detail) => {
    const path = withoutPart(detail.path);
    const message = withoutPart(detail.message);
    const isString = mustBeOther.test(message) && typeof valueAt(given, path) === 'string';
    return { path, message: isString ? `${message}, not a string` : message };
  });
  const first = details.findIndex(({ message }) => message === error.message);
  const message = named[first]?.message ?? error.message;
  const retry = retryAfterS === undefined ? {} : { retryAfterS };
  const declaration = { code, status, text: message };
  return new GatewayError(declaration, { details: named, cause, ...retry });
}

/** `"25"` is an integer to its writer. */
const mustBeOther = /must be an? (integer|number|boolean|object|array)$/;

function withoutPart(text: string): string {
  const [, header, rest = ''] = /^header\/([a-z-]+)(.*)$/s.exec(text) ?? [];
  if (header !== undefined) return `${header.replaceAll('-', '_')}${rest}`;
  return text.replace(/^(path|query)\//, '');
}

function valueAt(given: unknown, path: string): unknown {
  return path
    .split('/')
    .reduce<unknown>(
      (value, name) =>
        typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined,
      given,
    );
}
