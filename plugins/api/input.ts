import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../../core/errors.ts';
import type { AnyOperation } from '../../core/operation.ts';
import { announcesBody, checkContentType, readBody } from './body.ts';
import { parseBody } from './json.ts';
import { checkQueryEncoding, TextReader } from './texts.ts';
import { PartValidator } from './validation.ts';

/** A request as the HTTP layer knows it. */
export interface RawInput {
  readonly params: object;
  readonly query: object;
  readonly contentType: string | undefined;
  readonly raw: IncomingMessage;
}

/** A request as the handler gets it. */
export interface Input {
  readonly params: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: unknown;
}

const nothing = { type: 'object', properties: {}, additionalProperties: false };
const noHeaders = Object.freeze({});

/** Reads and validates the requests of one operation; everything is compiled once, while booting. */
export class InputReader {
  readonly #operation: AnyOperation;
  readonly #bodyLimit: number;
  readonly #params: { readonly texts: TextReader; readonly validator: PartValidator } | null;
  readonly #queryTexts: TextReader;
  readonly #queryValidator: PartValidator;
  readonly #bodyValidator: PartValidator | null;
  readonly #headers: readonly { readonly name: string; readonly validator: PartValidator }[];

  /**
   * @param bodyLimit in bytes
   * @throws Error when a schema of the declaration lets unknown fields pass
   */
  constructor(operation: AnyOperation, bodyLimit: number) {
    const { id, params, body } = operation;
    const query = operation.query ?? nothing;
    this.#operation = operation;
    this.#bodyLimit = bodyLimit;
    this.#params =
      params === null
        ? null
        : {
            texts: new TextReader('path', params),
            validator: new PartValidator('path', params, id),
          };
    this.#queryTexts = new TextReader('query', query);
    this.#queryValidator = new PartValidator('query', query, id);
    this.#bodyValidator = body === null ? null : new PartValidator('body', body, id);
    this.#headers = (operation.headers ?? []).map(({ name, schema }) => ({
      name: name.toLowerCase(),
      validator: new PartValidator('header', headerSchema(name.toLowerCase(), schema), id),
    }));
  }

  /** @throws GatewayError for whatever is wrong with the request */
  async read({ params, query, contentType, raw }: RawInput): Promise<Input> {
    checkQueryEncoding(raw.url ?? '');
    return {
      params: this.#readParams(params),
      query: this.#readQuery(query),
      headers: this.#readHeaders(raw),
      body: announcesBody(raw) ? await this.#readBody(raw, contentType) : this.#emptyBody(),
    };
  }

  #readParams(texts: object): Record<string, unknown> {
    if (this.#params === null) return {};
    const params = this.#params.texts.read(texts);
    this.#params.validator.check(params);
    return params;
  }

  #readQuery(texts: object): Record<string, unknown> {
    const query = this.#queryTexts.read(texts);
    this.#queryValidator.check(query);
    return query;
  }

  #readHeaders({ headers }: IncomingMessage): Input['headers'] {
    if (this.#headers.length === 0) return noHeaders;
    const given: Record<string, string | undefined> = {};
    for (const { name, validator } of this.#headers) {
      const value = headers[name];
      if (value === undefined) continue;
      given[name] = [value].flat().join(', ');
      validator.check({ [name]: given[name] });
    }
    return given;
  }

  async #readBody(raw: IncomingMessage, contentType: string | undefined): Promise<unknown> {
    const bytes = await readBody(raw, this.#bodyLimit);
    if (bytes.length === 0) return this.#emptyBody();
    if (this.#bodyValidator === null) {
      if (!isEmptyObject(bytes)) {
        const message = 'body is not defined for this operation';
        throw new GatewayError('invalid_request', {
          message,
          details: [{ path: 'body', message }],
        });
      }
      return undefined;
    }
    checkContentType(contentType, raw.headers['content-encoding']);
    const body = parseBody(bytes);
    this.#bodyValidator.check(body, bytes.length);
    return body;
  }

  #emptyBody(): unknown {
    if (this.#bodyValidator === null) return undefined;
    const body = {};
    this.#bodyValidator.check(body);
    if (this.#operation.bodyOptional === true) return body;
    const message = 'body is required';
    throw new GatewayError('invalid_request', { message, details: [{ path: 'body', message }] });
  }
}

function isEmptyObject(bytes: Buffer): boolean {
  return bytes.length <= 1_024 && /^\s*\{\s*\}\s*$/.test(bytes.toString('latin1'));
}

function headerSchema(name: string, schema: object): object {
  return { type: 'object', properties: { [name]: schema }, additionalProperties: false };
}
