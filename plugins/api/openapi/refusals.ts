import {
  type ErrorCode,
  type ErrorDeclaration,
  errorFacts,
  errorTable,
  GatewayError,
} from '../../../core/errors.ts';
import type { AnyOperation } from '../../../core/operation.ts';
import { refusalOf } from '../../../core/refusal.ts';
import type { JsonSchema } from '../schemas.ts';

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

function refusal(
  description: string,
  properties: Readonly<Record<string, unknown>> = {},
  required: readonly string[] = [],
  withSuccess = false,
): JsonSchema {
  return {
    type: 'object',
    description,
    properties: {
      ...(withSuccess ? { success: { type: 'boolean', const: false } } : {}),
      error_code: { type: 'string', description: 'stable and machine-readable' },
      error: { type: 'string', description: 'a sentence for a person' },
      ...properties,
    },
    required: [...(withSuccess ? ['success'] : []), 'error_code', 'error', ...required],
    additionalProperties: false,
  };
}

/** The shared schemas of all refusals; those of the webhook group begin with `Webhook`. */
export function refusalSchemas(withWebhooks: boolean): Record<string, JsonSchema> {
  return {
    RefusalDetail: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'where the field stands: `body/to/phone`' },
        message: { type: 'string', description: 'what is wrong with it' },
      },
      required: ['path', 'message'],
      additionalProperties: false,
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
      additionalProperties: false,
    },
    ...shapes('', false),
    ...(withWebhooks ? shapes('Webhook', true) : {}),
  };
}

function shapes(prefix: string, withSuccess: boolean): Record<string, JsonSchema> {
  return {
    [`${prefix}Refusal`]: refusal('A refusal.', {}, [], withSuccess),
    [`${prefix}InvalidRequest`]: refusal('The request is not valid.', { details }, [], withSuccess),
    [`${prefix}TooManyRequests`]: refusal(
      'A limit was met.',
      { retry_after_s: retryAfter },
      ['retry_after_s'],
      withSuccess,
    ),
  };
}

/** Every refusal that an operation may answer, by status. */
export function refusalsOf(
  operation: AnyOperation,
): ReadonlyMap<number, readonly ErrorDeclaration[]> {
  const errors = new Set<ErrorCode | ErrorDeclaration>([
    'invalid_request',
    'unauthorized',
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
    const facts = errorFacts(error);
    byStatus.set(facts.status, [...(byStatus.get(facts.status) ?? []), facts]);
  }
  return new Map([...byStatus].sort(([a], [b]) => a - b));
}

/** The response object of one status with all its refusals, each with an example. */
export function refusalResponse(
  status: number,
  errors: readonly ErrorDeclaration[],
  withSuccess: boolean,
): object {
  const headers = {
    'X-Request-Id': { $ref: '#/components/headers/RequestId' },
    ...(status === 429 || status === 503
      ? { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } }
      : {}),
  };
  if (status === 401) return { $ref: '#/components/responses/Unauthorized' };
  return {
    description: errors.map(({ code, text }) => `\`${code}\`: ${text}`).join('\n\n'),
    headers,
    content: {
      'application/json': {
        schema: {
          $ref: `#/components/schemas/${withSuccess ? 'Webhook' : ''}${shapeName(status)}`,
          properties: { error_code: { enum: errors.map(({ code }) => code) } },
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
export const unauthorizedResponse = {
  description: 'The API key is missing, wrong or revoked, or two keys differ.',
  headers: { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } },
  content: {
    'application/json': {
      schema: { $ref: '#/components/schemas/Unauthorized' },
      example: refusalOf(new GatewayError('unauthorized')).body,
    },
  },
};

function shapeName(status: number): string {
  if (status === 400) return 'InvalidRequest';
  return status === 429 ? 'TooManyRequests' : 'Refusal';
}

function example(error: ErrorDeclaration): GatewayError {
  if (error.code === 'invalid_request') {
    const path = 'query/unknown';
    const message = 'query has an unknown parameter "unknown"';
    return new GatewayError(error, { message, details: [{ path, message }] });
  }
  return new GatewayError(error, { retryAfterS: 30 });
}
