import type { GatewayError } from '../../core/errors.ts';
import { wrongField } from '../../core/field-refusals.ts';
import type { AnyOperation } from '../../core/operation.ts';
import type { RequestParts } from './contract.ts';
import { refuseOddValue } from './json.ts';
import { PartValidator } from './validation.ts';

/** A request as the handler gets it: validated, with its defaults. */
export interface Input {
  readonly params: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: unknown;
}

/** A schema for the query of an operation that has none. */
export const nothing = { type: 'object', properties: {}, additionalProperties: false };

/** The headers of a request that carries none of those that its operation declares. */
export const noHeaders: Input['headers'] = Object.freeze({});

/** Validates the values of requests to one operation. */
export class InputValidator {
  readonly #operation: AnyOperation;
  readonly #params: PartValidator | null;
  readonly #query: PartValidator;
  readonly #body: PartValidator | null;
  readonly #headers: ReadonlyMap<string, PartValidator>;

  /** @throws Error when a schema of the declaration lets unknown fields pass */
  constructor(operation: AnyOperation) {
    const { id, params, query, body, headers = [] } = operation;
    this.#operation = operation;
    this.#params = params === null ? null : new PartValidator('path', params, id);
    this.#query = new PartValidator('query', query ?? nothing, id);
    this.#body = body === null ? null : new PartValidator('body', body, id);
    this.#headers = new Map(
      headers.map(({ name, schema }) => [
        name.toLowerCase(),
        new PartValidator('header', headerSchema(name.toLowerCase(), schema), id),
      ]),
    );
  }

  /** @throws Error when one of its schemas is none, or cannot be compiled */
  refuseWrongSchemas(): void {
    for (const part of [this.#params, this.#query, this.#body, ...this.#headers.values()]) {
      part?.refuseWrongSchema();
    }
  }

  /** Lower-case names of the headers that the operation reads. */
  get headerNames(): Iterable<string> {
    return this.#headers.keys();
  }

  /** Whether the operation defines a body. */
  get takesBody(): boolean {
    return this.#body !== null;
  }

  /**
   * A whole request whose parts came as values.
   * @param size about how large it is, in bytes
   * @throws GatewayError for whatever is wrong with it
   */
  whole({ params, query, headers = noHeaders, body }: RequestParts, size: number): Input {
    for (const [name, value] of Object.entries(params)) refuseOddValue(`path/${name}`, value);
    for (const [name, value] of Object.entries(query)) refuseOddValue(`query/${name}`, value);
    for (const [name, value] of Object.entries(headers)) refuseOddValue(`header/${name}`, value);
    refuseOddValue('body', body);
    return {
      params: this.params(params),
      query: this.query(query),
      headers: this.#given(headers),
      body: body === undefined ? this.emptyBody() : this.body(body, size),
    };
  }

  #given(headers: Readonly<Record<string, unknown>>): Input['headers'] {
    for (const [name, value] of Object.entries(headers)) {
      this.#headers.get(name)?.check({ [name]: value });
    }
    // The schemas of headers are those of texts.
    return headers as Input['headers'];
  }

  /** @throws GatewayError `invalid_request` */
  params(params: Record<string, unknown>): Record<string, unknown> {
    this.#params?.check(params);
    return params;
  }

  /** @throws GatewayError `invalid_request` */
  query(query: Record<string, unknown>): Record<string, unknown> {
    this.#query.check(query);
    return query;
  }

  /** @throws GatewayError `invalid_request` */
  header(name: string, value: string): string {
    this.#headers.get(name)?.check({ [name]: value });
    return value;
  }

  /**
   * @param size about how large the body is, in bytes
   * @throws GatewayError `invalid_request`
   */
  body(body: unknown, size: number): unknown {
    if (this.#body === null) throw this.needlessBody();
    this.#body.check(body, size);
    return body;
  }

  /** The refusal of a body where none is defined. */
  needlessBody(): GatewayError {
    return wrongField('body', 'is not defined for this operation');
  }

  /**
   * The body of a request without one.
   * @throws GatewayError `invalid_request` when the operation needs one
   */
  emptyBody(): unknown {
    if (this.#body === null) return undefined;
    const body = {};
    this.#body.check(body);
    if (this.#operation.bodyOptional === true) return body;
    throw wrongField('body', 'is required');
  }
}

function headerSchema(name: string, schema: object): object {
  return { type: 'object', properties: { [name]: schema }, additionalProperties: false };
}
