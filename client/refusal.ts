import type { components, operations } from './generated/schema.ts';

/** The JSON body of one answer, where it has one. */
type JsonOf<Answer> = Answer extends { content: { 'application/json': infer Body } } ? Body : never;

/** Every body of a refusal, of any operation. */
type Body<Id extends keyof operations = keyof operations> = Id extends keyof operations
  ? Extract<
      JsonOf<operations[Id]['responses'][keyof operations[Id]['responses']]>,
      { error_code: unknown }
    >
  : never;

/** Codes that any request may meet and that no operation lists. */
type UnlistedCode = 'not_found' | 'uri_too_long' | 'headers_too_large';

/** The stable code of a refusal. */
export type ErrorCode = Extract<Body['error_code'], string> | 'unauthorized' | UnlistedCode;

/** One wrong field of a request: where it is, such as `body/to/phone`, and what is wrong. */
export type RefusalDetail = Readonly<components['schemas']['RefusalDetail']>;

/** The gateway has refused a request. `code` says why, `message` is a sentence for people. */
export class Refusal<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'Refusal';
  readonly code: Code;
  /** The HTTP status. */
  readonly status: number;
  /** The wrong fields; empty where the refusal is about no field. */
  readonly details: readonly RefusalDetail[];
  /** Seconds after which the same request may be accepted; null where the gateway does not say. */
  readonly retryAfterS: number | null;
  /** What the gateway's log calls this request. */
  readonly requestId: string | null;
  /** The whole body. */
  readonly body: Readonly<Record<string, unknown>>;

  constructor(
    code: Code,
    answer: Pick<Response, 'status' | 'headers'>,
    body: Record<string, unknown>,
    hint = '',
  ) {
    super(`${typeof body.error === 'string' ? body.error : code}${hint}`);
    this.code = code;
    this.status = answer.status;
    this.details = Array.isArray(body.details) ? body.details : [];
    this.retryAfterS = secondsOf(answer.headers.get('retry-after'));
    this.requestId = answer.headers.get('x-request-id');
    this.body = body;
  }
}

/** A refusal with each code, so that comparing `code` narrows it, and a misspelt code does not compile. */
export type AnyRefusal = { [Code in ErrorCode]: Refusal<Code> }[ErrorCode];

/** Whether the gateway has refused, rather than not been reached. */
export function isRefusal(error: unknown): error is AnyRefusal {
  return error instanceof Refusal;
}

/** No answer of the gateway has come: it was not reached, ended in the middle, or something else answered. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
  /** The HTTP status of an answer that was not the gateway's; null where none came, 0 for a redirect in a browser. */
  readonly status: number | null;
  readonly retryAfterS: number | null;

  constructor(cause: unknown, answer?: Pick<Response, 'status' | 'headers'>) {
    super(sentenceOf(answer), { cause });
    this.status = answer?.status ?? null;
    this.retryAfterS = secondsOf(answer?.headers.get('retry-after') ?? null);
  }
}

/** Whether an answer of this status points elsewhere; browsers show 0 for every status that does. */
export function isRedirect(status: number | null): boolean {
  return status === 0 || (status !== null && status >= 300 && status < 400);
}

function sentenceOf(answer: Pick<Response, 'status' | 'headers'> | undefined): string {
  if (answer === undefined) return 'the gateway cannot be reached';
  const { status, headers } = answer;
  if (status === 0) return 'baseUrl is redirected: the browser does not show whereto';
  if (!isRedirect(status)) return `an answer ${status} came that is not the gateway's`;
  const target = headers.get('location') ?? 'no address';
  return `baseUrl is redirected: an answer ${status} points to ${target}`;
}

/**
 * Makes the error of an answer that is no success.
 * @param body what was parsed; undefined where the answer was not JSON
 * @param baseUrl what was asked
 */
export function errorOf(
  answer: Pick<Response, 'status' | 'headers'>,
  body: unknown,
  baseUrl: string,
): Refusal | Unreachable {
  const isObject = typeof body === 'object' && body !== null;
  const fields: Record<string, unknown> = isObject ? { ...body } : {};
  // Specification: 401 carries the number.
  const code = fields.error_code === 401 ? 'unauthorized' : fields.error_code;
  if (typeof code !== 'string' || isRedirect(answer.status)) {
    return new Unreachable(undefined, answer);
  }
  const isAstray = code === 'not_found' && !baseUrl.endsWith('/v1');
  const hint = isAstray ? ' A base address ends in /v1, unless a proxy adds it.' : '';
  // A newer gateway may know further codes; the types are those of this version.
  return new Refusal(code as ErrorCode, answer, fields, hint);
}

/** The seconds of a Retry-After; null where it is empty, below 0 or a date. */
function secondsOf(header: string | null): number | null {
  const seconds = Number(header || Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : null;
}
