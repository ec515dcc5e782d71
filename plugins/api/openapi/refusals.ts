import {
  type ErrorCode,
  type ErrorDeclaration,
  errorDeclaration,
  errorTable,
  GatewayError,
} from '../../../core/errors.ts';
import { wrongFields } from '../../../core/field-refusals.ts';
import type { AnyOperation } from '../../../core/operation.ts';
import { refusalOf } from '../../../core/refusal.ts';
import type { JsonSchema } from '../../../core/schemas.ts';

const details = {
  type: 'array',
  description: 'the fields that are wrong',
  items: { $ref: '#/components/schemas/RefusalDetail' },
};
const retryAfter = {
  type: 'integer',
  minimum: 1,
  description: 'seconds until the same request would pass',
};

/** The shared schemas of all refusals. */
export const refusalSchemas: Readonly<Record<string, JsonSchema>> = {
  RefusalDetail: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'where the field is: `body/to/phone`' },
      message: { type: 'string', description: 'what is wrong with it' },
    },
    required: ['path', 'message'],
  },
  Unauthorized: {
    type: 'object',
    description: 'The API key is missing, wrong or revoked, or two keys differ.',
    properties: {
      success: { type: 'boolean', const: false },
      error_code: { type: 'integer', const: 401 },
      error: { type: 'string', const: errorTable.unauthorized.text },
    },
    required: ['success', 'error_code', 'error'],
  },
};

/**
 * The refusals of all operations: whatever two operations have in common is one entry of `components.responses`, the
 * rest is written out where it belongs. Each schema is written out whole, since generators of clients ignore
 * what is beside a `$ref`.
 */
export class SharedRefusals {
  readonly #uses = new Map<string, number>();
  readonly #responses = new Map<string, object>();

  constructor(operations: readonly AnyOperation[]) {
    for (const operation of operations) {
      for (const [status, errors] of refusalsOf(operation)) {
        const name = nameOf(status, errors, operation.group === 'webhooks');
        this.#uses.set(name, (this.#uses.get(name) ?? 0) + 1);
      }
    }
  }

  /** The responses of one operation's refusals, by status. */
  of(operation: AnyOperation): Record<string, object> {
    const withSuccess = operation.group === 'webhooks';
    return Object.fromEntries(
      [...refusalsOf(operation)].map(([status, errors]) => {
        if (status === 401) return [status, { $ref: '#/components/responses/Unauthorized' }];
        const name = nameOf(status, errors, withSuccess);
        const response = refusalResponse(status, errors, withSuccess);
        if ((this.#uses.get(name) ?? 0) < 2) return [status, response];
        this.#responses.set(name, response);
        return [status, { $ref: `#/components/responses/${name}` }];
      }),
    );
  }

  /** Everything shared so far, by name. */
  all(): Record<string, object> {
    const sorted = [...this.#responses].sort(([a], [b]) => (a < b ? -1 : 1));
    return { Unauthorized: unauthorizedResponse, ...Object.fromEntries(sorted) };
  }
}

/** `InvalidRequestOrInvalidCursor`; the refusals of the webhook group have a field more. */
function nameOf(status: number, errors: readonly ErrorDeclaration[], withSuccess: boolean): string {
  const codes = errors.map(({ code }) =>
    code.replaceAll(/(?:^|_)(.)/g, (_, first) => first.toUpperCase()),
  );
  return `${withSuccess ? 'Webhook' : ''}${codes.join('Or')}${status}`;
}

/** Every refusal that an operation may answer, by status. */
export function refusalsOf(
  operation: AnyOperation,
): ReadonlyMap<number, readonly ErrorDeclaration[]> {
  const errors = new Set<ErrorCode | ErrorDeclaration>([
    'invalid_request',
    'unauthorized',
    ...(operation.scope === null && operation.withinAccounts ? [] : (['scope_missing'] as const)),
    'payload_too_large',
    ...(operation.params === null ? [] : (['uri_too_long'] as const)),
    ...(operation.body === null ? [] : (['unsupported_media_type'] as const)),
    'rate_limited',
    ...operation.errors,
    'internal_error',
    'unavailable',
  ]);
  const byStatus = new Map<number, ErrorDeclaration[]>();
  for (const error of errors) {
    const declaration = errorDeclaration(error);
    byStatus.set(declaration.status, [...(byStatus.get(declaration.status) ?? []), declaration]);
  }
  return new Map([...byStatus].sort(([a], [b]) => a - b));
}

/** The response object of one status with all its refusals, each with an example. */
function refusalResponse(
  status: number,
  errors: readonly ErrorDeclaration[],
  withSuccess: boolean,
): object {
  const codes = errors.map(({ code }) => code);
  return {
    description: errors.map(({ code, text }) => `\`${code}\`: ${text}`).join('\n\n'),
    headers: {
      'X-Request-Id': { $ref: '#/components/headers/RequestId' },
      ...(status === 429 || status === 503
        ? { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } }
        : {}),
    },
    content: {
      'application/json': {
        schema: {
          type: 'object',
          properties: {
            ...(withSuccess ? { success: { type: 'boolean', const: false } } : {}),
            error_code: { type: 'string', enum: codes },
            error: { type: 'string', description: 'a sentence for a person' },
            ...(status === 400 ? { details } : {}),
            ...(status === 429 ? { retry_after_s: retryAfter } : {}),
          },
          required: [
            ...(withSuccess ? ['success'] : []),
            ...['error_code', 'error'],
            ...(status === 429 ? ['retry_after_s'] : []),
          ],
        },
        examples: Object.fromEntries(
          errors.map((error) => [
            error.code,
            { value: refusalOf(example(error), withSuccess).body },
          ]),
        ),
      },
    },
  };
}

/** The response that all operations share. */
const unauthorizedResponse = {
  description: 'The API key is missing, wrong or revoked, or two keys differ.',
  headers: { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } },
  content: {
    'application/json': {
      schema: { $ref: '#/components/schemas/Unauthorized' },
      example: refusalOf(new GatewayError('unauthorized')).body,
    },
  },
};

function example(error: ErrorDeclaration): GatewayError {
  if (error.code === 'invalid_request') {
    const message = 'query has an unknown parameter "unknown"';
    return wrongFields([{ path: 'query/unknown', message }]);
  }
  return new GatewayError(error, { retryAfterS: 30 });
}
