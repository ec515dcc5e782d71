import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { GatewayError } from '../../core/errors.ts';
import { wrongField, wrongFields } from '../../core/field-refusals.ts';
import type { AnyOperation } from '../../core/operation.ts';
import type { RequestPart } from '../../core/validation-messages.ts';
import { announcesBody, checkContentType, readBody } from './body.ts';
import { type Input, type InputValidator, noHeaders, nothing } from './input.ts';
import { parseBody } from './json.ts';
import { plainSchema } from './schemas.ts';

/** A request as the HTTP layer knows it. */
export interface RawInput {
  readonly params: object;
  readonly query: object;
  readonly contentType: string | undefined;
  readonly raw: IncomingMessage;
}

/** Reads the HTTP requests to one operation into the values that its validator checks. */
export class InputReader {
  readonly #validator: InputValidator;
  readonly #bodyLimit: number;
  readonly #params: TextCoercion | null;
  readonly #query: TextCoercion;

  /** @param bodyLimit in bytes */
  constructor({ params, query }: AnyOperation, validator: InputValidator, bodyLimit: number) {
    this.#validator = validator;
    this.#bodyLimit = bodyLimit;
    this.#params = params === null ? null : new TextCoercion('path', params);
    this.#query = new TextCoercion('query', query ?? nothing);
  }

  /** @throws GatewayError for whatever is wrong with the request */
  async read({ params, query, contentType, raw }: RawInput): Promise<Input> {
    checkQueryEncoding(raw.url ?? '');
    return {
      params: this.#params === null ? {} : this.#validator.params(this.#params.read(params)),
      query: this.#validator.query(this.#query.read(query)),
      headers: this.#readHeaders(raw),
      body: announcesBody(raw)
        ? await this.#readBody(raw, contentType)
        : this.#validator.emptyBody(),
    };
  }

  /** @throws GatewayError `invalid_request` */
  #readHeaders({ headers, rawHeaders }: IncomingMessage): Input['headers'] {
    let given: Record<string, string> | undefined;
    for (const name of this.#validator.headerNames) {
      const value = headers[name];
      if (value === undefined) continue;
      const text = [value].flat().join(', ');
      // Node joins the values of several headers with it.
      if (text.includes(', ') && isRepeated(rawHeaders, name)) {
        throw wrongValue('header', name, 'must be given only once');
      }
      given ??= {};
      given[name] = this.#validator.header(name, headerText(text));
    }
    return given ?? noHeaders;
  }

  async #readBody(raw: IncomingMessage, contentType: string | undefined): Promise<unknown> {
    const bytes = await readBody(raw, this.#bodyLimit);
    if (bytes.length === 0) return this.#validator.emptyBody();
    if (!this.#validator.takesBody) {
      if (isEmptyObject(bytes)) return undefined;
      throw this.#validator.needlessBody();
    }
    checkContentType(contentType, raw.headers['content-encoding']);
    return this.#validator.body(parseBody(bytes), bytes.length);
  }
}

/** Whether a header is there more than once. @param name in lower case */
function isRepeated(rawHeaders: readonly string[], name: string): boolean {
  const names = rawHeaders.filter((_, index) => index % 2 === 0);
  return names.filter((given) => given.toLowerCase() === name).length > 1;
}

/** The text of a header: UTF-8 where its bytes are that, as in a body, and else ISO 8859-1, as Node reads all of them. */
function headerText(value: string): string {
  const bytes = Buffer.from(value, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : value;
}

function isEmptyObject(bytes: Buffer): boolean {
  return bytes.length <= 1_024 && /^\s*\{\s*\}\s*$/.test(bytes.toString('latin1'));
}

/**
 * The query parser leaves what is not valid percent-encoded UTF-8 as it is; a client would not notice.
 * @throws GatewayError `invalid_request`
 */
function checkQueryEncoding(url: string): void {
  const start = url.indexOf('?');
  if (start < 0 || !url.includes('%', start)) return;
  try {
    decodeURIComponent(url.slice(start + 1));
  } catch (cause) {
    const message = 'query is not validly percent-encoded';
    throw wrongFields([{ path: 'query', message }], 'invalid_request', cause);
  }
}

const kinds = ['integer', 'number', 'boolean'] as const;
type Kind = (typeof kinds)[number];

const numeric = /^-?\d{1,20}(?:\.\d{1,20})?$/;

/**
 * Coerces the texts of path and query: `5` becomes a number where the schema says integer or number, `true` and `false`
 * become booleans where it says boolean. Anything else stays for the validator to refuse.
 */
class TextCoercion {
  readonly #part: RequestPart;
  readonly #kinds = new Map<string, Kind>();

  constructor(part: RequestPart, schema: object) {
    this.#part = part;
    const { properties = {} } = plainSchema(schema);
    for (const [name, property] of Object.entries(
      properties as Record<string, { type?: unknown }>,
    )) {
      const types = [property.type].flat();
      const kind = kinds.find((candidate) => types.includes(candidate));
      if (kind !== undefined) this.#kinds.set(name, kind);
    }
  }

  /** @throws GatewayError `invalid_request` for a parameter given twice and for NUL */
  read(texts: object): Record<string, unknown> {
    const values: Record<string, unknown> = Object.create(null);
    for (const [name, text] of Object.entries(texts)) {
      if (typeof text !== 'string') throw wrongValue(this.#part, name, 'must be given only once');
      if (text.includes('\0')) throw wrongValue(this.#part, name, 'must not contain NUL');
      values[name] = convert(text, this.#kinds.get(name));
    }
    return values;
  }
}

/** A refusal of one value of a request. @param predicate what follows its path in the sentence */
function wrongValue(part: RequestPart, name: string, predicate: string): GatewayError {
  return wrongField(`${part}/${name.slice(0, 100)}`, predicate);
}

function convert(text: string, kind: Kind | undefined): unknown {
  if (kind === undefined) return text;
  if (kind === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  return numeric.test(text) ? Number(text) : text;
}
