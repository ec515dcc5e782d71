import type { Static, TObject, TSchema } from 'typebox';
import type { Caller } from './contracts/caller.ts';
import type { ErrorCode, ErrorDeclaration } from './errors.ts';
import type { Scope } from './scopes.ts';

/** The groups of the specification's endpoints; they order the documentation and shape the errors. */
export type OperationGroup =
  | 'messages'
  | 'contacts'
  | 'accounts'
  | 'msgapp'
  | 'chatapp'
  | 'channels'
  | 'usage'
  | 'webhooks'
  | 'sandbox';

/** A group of a plugin's own: a chapter of the documentation, after those of the specification. */
export interface GroupDeclaration {
  /** The chapter's title, such as `Templates`. */
  readonly name: string;
  /** What it is about, in Markdown. */
  readonly description: string;
}

/** Every answer an operation may give on success, by HTTP status. */
export type AnswerSchemas = { readonly [status: number]: TSchema };

/** One answer: a status that the operation declares and the body that its schema describes. */
export type Answer<Answers extends AnswerSchemas> = {
  [Status in keyof Answers & number]: {
    readonly status: Status;
    readonly body: Static<Answers[Status]>;
    /** Shared: this body answers many calls and never changes, so that its JSON is written once. */
    readonly shared?: true;
    /** What follows the body, where the operation answers lines. */
    readonly lines?: AsyncIterable<Static<Answers[Status]>>;
    /** Id of what was changed, for the audit, where neither body nor path has it. */
    readonly changed?: string;
  };
}[keyof Answers & number];

/** Request to a handler, already authenticated and validated. */
export interface OperationRequest<
  Params extends TObject,
  Query extends TObject,
  Body extends TSchema,
> {
  readonly caller: Caller;
  readonly params: Static<Params>;
  readonly query: Static<Query>;
  readonly body: Static<Body>;
  /** Lower-case names. Only for headers that the operation declares. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Aborted when the client went away or the gateway stops. */
  readonly signal: AbortSignal;
  readonly requestId: string;
  /** The trace of the request, as W3C Trace Context writes it, to be passed on; null without one. */
  readonly traceparent: string | null;
}

/** Hints for agents (MCP tool annotations) and for the reader of the documentation. */
export interface OperationHints {
  readonly readOnly: boolean;
  readonly destructive: boolean;
  readonly idempotent: boolean;
  /** Whether it deals with people or systems outside the gateway; when absent, whether it is not read-only. */
  readonly openWorld?: boolean;
}

/** A header that an operation reads, for the documentation. */
export interface OperationHeader {
  readonly name: string;
  readonly description: string;
  readonly schema: TSchema;
}

/** An example of a call, used in the documentation and run by the tests against its schema. */
export interface OperationExample {
  readonly summary: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly answer: { readonly status: number; readonly body: unknown };
}

/** What a request shows instead of an API key. */
export interface Credential {
  /** The header that carries it, in lower case; the operation declares it among its headers, too. */
  readonly header: string;
  /** The refusal of a request without it, and of one that nobody has or that has ended. */
  readonly refusal: ErrorCode;
  /** The caller behind a value of the header; null when nobody was given this value, or it has ended. */
  caller(value: string): Promise<Caller | null>;
}

/** A question about what goes out from one account. */
export interface AccountQuestion {
  readonly text: string;
  /** The account that the text names, `caller.confirmedAccountId` in the handler of the confirmed call. */
  readonly accountId: string;
}

/** One operation of the gateway: REST route, OpenAPI entry and MCP tool are all made from this. */
export interface Operation<
  Params extends TObject = TObject,
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
  Answers extends AnswerSchemas = AnswerSchemas,
> {
  /** OpenAPI's operationId; the tool's name where there is a tool. */
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below `{base_url}`, parameters as `{name}`. */
  readonly path: string;
  /** The MCP tool's name, or null for an operation that is REST only. */
  readonly tool: string | null;
  /** What a key must be allowed to do for it; null: any key may call it. */
  readonly scope: Scope | null;
  /**
   * It shows and changes nothing of accounts that `caller.accountIds` does not have. Any other operation is refused to a
   * key that is limited to some accounts.
   */
  readonly withinAccounts?: true;
  /** One of the specification's, or a plugin's own; operations of one group share the same object. */
  readonly group: OperationGroup | GroupDeclaration;
  /** For tenants of this mode only: with a key of the other one the operation does not exist (404). */
  readonly mode?: Caller['mode'];
  /** Taken in place of an API key, where present. Such an operation is REST only. */
  readonly credential?: Credential;
  readonly summary: string;
  /** When to use it, what to expect, what to do after a refusal. For people and agents alike. */
  readonly description: string;
  readonly hints: OperationHints;
  readonly params: Params | null;
  readonly query: Query | null;
  /** Null where no body is defined; `{}` and an empty body are then accepted. */
  readonly body: Body | null;
  /** True when an empty body counts as `{}` although a body is defined (all its fields are optional). */
  readonly bodyOptional?: boolean;
  readonly headers?: readonly OperationHeader[];
  readonly answers: Answers;
  /** It answers JSON lines (`application/x-ndjson`), each as the schema has it: the body, then `lines`. REST only. */
  readonly lines?: true;
  /** The field of its answers with a PNG as a data: address; agents get it as a picture instead of text. */
  readonly picture?: string;
  /** The refusals that this operation has beyond those of every operation: of the table, or a plugin's own. */
  readonly errors: readonly (ErrorCode | ErrorDeclaration)[];
  readonly examples: readonly OperationExample[];
  /**
   * What a person is asked before a key with `confirm_sends` does this, in plain text: exactly what the call would do. Such
   * a key calls the tool over MCP only; in the handler of a call that was confirmed, `caller.confirmSends` is false. Null
   * where the handler would do nothing, as an earlier call with this Idempotency-Key has: then nobody is asked. An
   * operation that declares that header gets one for each call that is confirmed, so that a repeat of it is done once.
   * @throws GatewayError where the call would be refused
   */
  question?(
    request: OperationRequest<Params, Query, Body>,
  ): Promise<string | AccountQuestion | null>;
  /** Throws GatewayError to refuse. */
  handler(request: OperationRequest<Params, Query, Body>): Promise<Answer<NoInfer<Answers>>>;
}

/**
 * Declares one operation; exists so that the handler's types come from the schemas.
 * Called by plugins, which hand the result to `app.operations.add`.
 */
export function operation<
  Params extends TObject,
  Query extends TObject,
  Body extends TSchema,
  Answers extends AnswerSchemas,
>(declaration: Operation<Params, Query, Body, Answers>): AnyOperation {
  // The registry holds operations of every type. Their handlers are only ever called with values that
  // the very schemas of the declaration have validated, which TypeScript cannot see.
  return declaration as unknown as AnyOperation;
}

/** An operation whose types were forgotten, as the registry holds it. */
export type AnyOperation = Operation<TObject, TObject, TSchema, AnswerSchemas>;
