import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';

/** Plain JSON: what an OpenAPI document is made of. */
export type JsonObject = { readonly [key: string]: unknown };

/** A parameter of an operation. */
export interface DocumentParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema: JsonObject;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

interface Media {
  readonly schema: JsonObject;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

type Content = Readonly<Record<string, Media>>;

/** An operation of a document. */
export interface DocumentOperation {
  readonly operationId: string;
  readonly 'x-scope': string | null;
  /** The name of its tool, where agents have it. */
  readonly 'x-mcp-tool'?: string;
  readonly 'x-within-accounts': boolean;
  /** Empty for an operation that takes no key. */
  readonly security?: readonly object[];
  readonly parameters?: readonly DocumentParameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, JsonObject>>;
}

/** An operation with the path template and method under which the document has it. */
export interface FoundOperation {
  readonly path: string;
  readonly method: string;
  readonly operation: DocumentOperation;
}

/** An OpenAPI document, as far as the tests read it. */
export interface Document {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentOperation>>>>;
}

/** Refusals that any request may meet, whatever the document says of its operation. */
const anyRefusal: JsonObject = {
  type: 'object',
  properties: {
    success: { const: false },
    error_code: { type: 'string', pattern: '^[a-z][a-z0-9_]*$' },
    error: { type: 'string', minLength: 1 },
    details: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        properties: { path: { type: 'string' }, message: { type: 'string' } },
        required: ['path', 'message'],
        additionalProperties: false,
      },
    },
    retry_after_s: { type: 'integer', minimum: 1 },
  },
  required: ['error_code', 'error'],
  additionalProperties: false,
};

const unauthorized: JsonObject = {
  const: { success: false, error_code: 401, error: 'Invalid API key' },
};

/** Checks answers against one OpenAPI document. */
export class DocumentChecker {
  readonly document: Document;
  readonly #ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    validateSchema: false,
    code: { optimize: false },
  });
  readonly #validators = new Map<string, ValidateFunction | null>();

  constructor(document: Document) {
    this.document = document;
    ajvFormats.default(this.#ajv);
    this.#ajv.addSchema(closed(document) as JsonObject, 'openapi');
  }

  /** The operation that serves a path (below the base URL, without query), a fixed path before a template. */
  find(method: string, path: string): FoundOperation | null {
    const matching = Object.keys(this.document.paths).filter((template) => matches(template, path));
    matching.sort((a, b) => parameterCount(a) - parameterCount(b));
    for (const template of matching) {
      const operation = this.document.paths[template]?.[method.toLowerCase()];
      if (operation !== undefined) return { path: template, method, operation };
    }
    return null;
  }

  /** What is wrong with an answer, or null. */
  complaint(found: FoundOperation, status: number, body: unknown): string | null {
    const { responses } = found.operation;
    if (responses[status] === undefined) {
      return `status ${status} is not documented (${Object.keys(responses).join(', ')} are)`;
    }
    return this.#validate(pointer('paths', found.path, found.method.toLowerCase(), status), body);
  }

  /** What is wrong with the body of a refusal of which no operation is known, or null. */
  refusalComplaint(status: number, body: unknown): string | null {
    const schema = status === 401 ? unauthorized : anyRefusal;
    const validate = this.#ajv.compile(schema);
    if (!validate(body)) return this.#ajv.errorsText(validate.errors);
    if (status === 429 && !(typeof body === 'object' && body && 'retry_after_s' in body)) {
      return 'a 429 without retry_after_s';
    }
    return null;
  }

  #validate(response: string, body: unknown): string | null {
    let validate = this.#validators.get(response);
    if (validate === undefined) {
      const location = this.#resolve(response);
      const of = (media: string) => ({ $ref: `openapi#${location}/content/${media}/schema` });
      // The client of the tests reads JSON lines as a list.
      validate = this.#ajv.compile(
        this.#answersLines(location)
          ? { type: 'array', items: of('application~1x-ndjson') }
          : of('application~1json'),
      );
      this.#validators.set(response, validate);
    }
    if (validate === null || validate(body)) return null;
    return this.#ajv.errorsText(validate.errors, { dataVar: 'body' });
  }

  #answersLines(response: string): boolean {
    const { content = {} } = this.#at(response) as { content?: JsonObject };
    return 'application/x-ndjson' in content;
  }

  /** Follows the reference of a response, which JSON Schema knows nothing of. */
  #resolve(location: string): string {
    const { $ref } = this.#at(location) as { $ref?: string };
    return $ref === undefined ? location : $ref.slice(1);
  }

  /** The part of the document behind a JSON pointer. */
  #at(location: string): unknown {
    return location
      .slice(1)
      .split('/')
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce<unknown>((value, part) => (value as JsonObject)[part], this.document);
  }
}

function pointer(paths: string, path: string, method: string, status: number): string {
  const escaped = path.replaceAll('~', '~0').replaceAll('/', '~1');
  return `/${paths}/${escaped}/${method}/responses/${status}`;
}

function matches(template: string, path: string): boolean {
  const parts = template.split('/');
  const given = path.split('/');
  return (
    parts.length === given.length &&
    parts.every((part, index) => part === given[index] || (part.startsWith('{') && given[index]))
  );
}

function parameterCount(template: string): number {
  return template.split('{').length - 1;
}

/** Makes every object schema that says nothing of further fields refuse them. */
export function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    copy[key] = key === 'examples' || key === 'example' ? item : closed(item);
  }
  const isObjectSchema =
    [copy.type].flat().includes('object') && typeof copy.properties === 'object';
  if (isObjectSchema) copy.additionalProperties ??= false;
  return copy;
}
