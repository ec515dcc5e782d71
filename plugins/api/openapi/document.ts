import type { AnyOperation } from '../../../core/operation.ts';
import type { OutgoingCall } from '../../../core/outgoing-call.ts';
import { SharedSchemas } from './components.ts';
import { tagOf, tagsOf } from './groups.ts';
import { operationObject } from './operation.ts';
import { outgoingSection } from './outgoing.ts';
import { refusalSchemas, SharedRefusals } from './refusals.ts';

/** An OpenAPI 3.1 document as plain data. */
export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: {
    readonly title: string;
    readonly summary: string;
    readonly description: string;
    readonly [field: string]: unknown;
  };
  readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>;
  /** The requests that the gateway makes; absent without any. */
  readonly webhooks?: Readonly<Record<string, object>>;
  readonly components: {
    readonly schemas: object;
    readonly parameters?: object;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

const description = `
One REST API for every connected messaging account.

Every call carries the API key, as \`X-API-Key: <API_KEY>\` or as \`Authorization: Bearer <API_KEY>\`.
Bodies are JSON in UTF-8. Unknown body fields and query parameters are refused by name, numbers out of range
are refused and never clamped.

A refusal is \`{"error_code", "error"}\`; a validation refusal adds \`details\`, one entry for each wrong field.
An answer 429 carries \`retry_after_s\` and the \`Retry-After\` header, an answer 503 the header. Beyond what the
operations list, a request may be answered 404 \`not_found\` (no such path or method), 414 \`uri_too_long\` and
431 \`headers_too_large\`.

Every answer carries \`X-Request-Id\`: the one that was sent, or a new one.

The media of an inbound message is read at the address in its \`media.url\`, by GET or HEAD, whole or by range.
The address needs no key, so that it can be handed on; it is good for 24 hours, and each read of the message gives a
new one. It answers 410 \`media_gone\` once it has expired or the file is not kept any more (30 days, or until
its contact becomes private), and 404 for an address that was made up. Only pictures, films and sound are served for
being shown; anything else is served for being saved.
`.trim();

/**
 * The OpenAPI document of these operations, and of the requests that the gateway makes by itself.
 * @param serverUrl the base URL, which ends in `/v1`
 * @throws Error when two different schemas carry the same `$id`, or two different groups the same name
 */
export function openApiDocument(
  operations: readonly AnyOperation[],
  outgoing: readonly OutgoingCall[],
  serverUrl: string,
): OpenApiDocument {
  const shared = new SharedSchemas();
  const tags = tagsOf(operations);
  const names = tags.map(({ name }) => name);
  const refusals = new SharedRefusals(operations);
  const paths = pathsOf(operations, names, shared, refusals);
  const { webhooks, parameters } = outgoingSection(outgoing, tagOf('webhooks').name, shared);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Messaging gateway',
      version: '1.0.0',
      summary: 'Send and receive through connected messaging accounts',
      description,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: serverUrl, description: 'this gateway' }],
    security: [{ ApiKey: [] }, { Bearer: [] }],
    tags,
    paths,
    ...(outgoing.length === 0 ? {} : { webhooks }),
    components: {
      ...(outgoing.length === 0 ? {} : { parameters }),
      schemas: { ...shared.all(), ...refusalSchemas },
      responses: refusals.all(),
      headers: {
        RequestId: {
          description: 'the id of the request: the one that was sent, or a new one',
          schema: { type: 'string' },
        },
        RetryAfter: {
          description: 'seconds until it is worth trying again',
          schema: { type: 'integer', minimum: 1 },
        },
      },
      securitySchemes: {
        ApiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'the API key' },
        Bearer: { type: 'http', scheme: 'bearer', description: 'the API key as bearer token' },
      },
    },
  };
}

function pathsOf(
  operations: readonly AnyOperation[],
  tags: readonly string[],
  shared: SharedSchemas,
  refusals: SharedRefusals,
): Record<string, Record<string, object>> {
  const sorted = [...operations].sort(
    (a, b) => tags.indexOf(tagOf(a.group).name) - tags.indexOf(tagOf(b.group).name),
  );
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of sorted) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: operationObject(operation, shared, refusals),
    };
  }
  return paths;
}
