import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../../core/contracts/caller.ts';
import { CurrentRequest } from '../../core/current-request.ts';
import type { AnyOperation, OperationRequest } from '../../core/operation.ts';
import type { JsonSchema } from '../../core/schemas.ts';
import { traceparentOf } from '../../core/spans.ts';
import type { Admission } from './admission.ts';
import { type AnyAnswer, audited, type Handler, isAudited, type RecordChange } from './auditing.ts';
import type { PersonsQuestion, QuestionedOperation, RequestParts } from './contract.ts';
import { type Input, InputValidator } from './input.ts';
import { jsonLines } from './json-lines.ts';
import type { CallSignal, OpenCalls } from './open-calls.ts';
import { InputReader } from './reader.ts';
import { withoutNames } from './schemas.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who calls; set by admission, on requests to operations only. */
    caller: Caller | null;
  }
}

/** Dependencies that the operations of a gateway share. */
export interface HandlingOptions {
  readonly admission: Pick<Admission, 'arrived'>;
  /** In bytes. */
  readonly bodyLimit: number;
  readonly openCalls: OpenCalls;
  /** Whether the schemas of an operation are known to be right, so that a start need not compile them. */
  isTried(operation: AnyOperation): boolean;
  /** Makes changes that leave an entry. */
  readonly audit: RecordChange;
}

/** What a route answers. */
export type RoutedAnswer = AnyAnswer & {
  /** What is sent instead of the body, where lines follow it: all of them. */
  readonly stream?: Readable;
};

/** From a request to one operation, of a caller who is known, to its answer; whichever way the request came. */
export class OperationHandling {
  readonly operation: AnyOperation;
  /** Whether the schemas are known to be right. */
  readonly isTried: boolean;
  /** The schemas of the answers, by status. */
  readonly answers: Readonly<Record<string, JsonSchema>>;
  readonly #admission: HandlingOptions['admission'];
  readonly #openCalls: OpenCalls;
  readonly #validator: InputValidator;
  readonly #reader: InputReader;
  readonly #answer: Handler<AnyAnswer>;
  /** Whether log lines of everything behind a call name its request; of sends, waits and reads the lanes' lines do. */
  readonly #isFollowed: boolean;

  /**
   * @throws Error when a schema of the declaration lets unknown fields pass, or when that of an operation from outside
   *   is no schema
   */
  constructor(
    operation: AnyOperation,
    { admission, bodyLimit, openCalls, isTried, audit }: HandlingOptions,
  ) {
    this.operation = operation;
    this.#admission = admission;
    this.#openCalls = openCalls;
    this.#isFollowed = isAudited(operation);
    this.#answer = this.#isFollowed ? audited(operation, audit) : operation.handler;
    this.#validator = new InputValidator(operation);
    this.isTried = isTried(operation);
    if (!this.isTried) this.#validator.refuseWrongSchemas();
    this.#reader = new InputReader(operation, this.#validator, bodyLimit);
    this.answers = Object.fromEntries(
      Object.entries(operation.answers).map(([status, schema]) => [status, withoutNames(schema)]),
    );
  }

  /**
   * Answers a request to the operation's route.
   * @throws GatewayError to refuse
   */
  async route(request: FastifyRequest): Promise<RoutedAnswer> {
    const handled = new CurrentRequest(request.id, traceparentOf(request.span));
    const call = this.#openCalls.enter(request.raw.socket);
    let stream: Readable | undefined;
    try {
      const input = await this.#reader.read({
        params: request.params as object,
        query: request.query as object,
        contentType: request.contentType,
        raw: request.raw,
      });
      const caller = await this.#admission.arrived(request);
      const answer = await this.#act(
        handled,
        new OperationCall(request, { caller, traceparent: handled.traceparent }, input, call),
        this.#answer,
      );
      const { body, lines } = answer;
      if (lines === undefined) return answer;
      // Lines are made while they are sent: the call is open until their end.
      stream = jsonLines(body, lines).once('close', () => call.leave());
      return { ...answer, stream };
    } finally {
      handled.end();
      if (stream === undefined) call.leave();
    }
  }

  /**
   * Answers a request whose parts came inside another one.
   * @param confirmed what a person has confirmed, where it was this very call
   * @throws GatewayError to refuse
   */
  parts(
    request: FastifyRequest,
    parts: RequestParts,
    confirmed?: Pick<PersonsQuestion, 'accountId'>,
  ): Promise<AnyAnswer> {
    const origin = originOf(request, parts);
    if (origin.caller !== null && confirmed !== undefined) {
      const { accountId: confirmedAccountId } = confirmed;
      origin.caller = { ...origin.caller, confirmSends: false, confirmedAccountId };
    }
    return this.#run(request, parts, origin, this.#answer);
  }

  /**
   * The question about a request whose parts came inside another one; null where there is nothing to ask.
   * @throws GatewayError to refuse
   */
  async question(
    request: FastifyRequest,
    parts: RequestParts,
    { question }: QuestionedOperation,
  ): Promise<PersonsQuestion | null> {
    const origin = originOf(request, parts);
    const asked = await this.#run(request, parts, origin, question);
    return typeof asked === 'string' ? { text: asked } : asked;
  }

  async #run<Result>(
    request: FastifyRequest,
    parts: RequestParts,
    origin: CallOrigin,
    act: Handler<Result>,
  ): Promise<Result> {
    const handled = new CurrentRequest(request.id, origin.traceparent);
    const call = this.#openCalls.enter(request.raw.socket);
    try {
      const size = Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY);
      const input = this.#validator.whole(parts, size);
      return await this.#act(handled, new OperationCall(request, origin, input, call), act);
    } finally {
      handled.end();
      call.leave();
    }
  }

  /** Calls the handler; `end` of the request has to follow. Not `async`: each open long poll would keep one frame more. */
  #act<Result>(
    handled: CurrentRequest,
    call: OperationCall,
    act: Handler<Result>,
  ): Promise<Result> {
    const acting = () => act(call);
    return this.#isFollowed ? handled.follow(acting) : handled.call(acting);
  }
}

function originOf({ caller, span }: FastifyRequest, parts: RequestParts) {
  return { caller, traceparent: parts.traceparent ?? traceparentOf(span) };
}

/** Who makes a call, and in which trace. */
interface CallOrigin extends Pick<OperationCall, 'traceparent'> {
  readonly caller: Caller | null;
}

/** One call of an operation, as its handler sees it. */
class OperationCall implements OperationRequest<never, never, never> {
  readonly caller: Caller;
  readonly params: never;
  readonly query: never;
  readonly body: never;
  readonly headers: OperationRequest<never, never, never>['headers'];
  readonly requestId: string;
  readonly traceparent: string | null;
  readonly #call: CallSignal;

  constructor(
    request: FastifyRequest,
    { caller, traceparent }: CallOrigin,
    input: Input,
    call: CallSignal,
  ) {
    if (caller === null) throw new Error('an operation was called without a caller');
    this.caller = caller;
    // The schemas of the operation have validated these values, which TypeScript cannot see.
    this.params = input.params as never;
    this.query = input.query as never;
    this.body = input.body as never;
    this.headers = input.headers;
    this.requestId = request.id;
    this.traceparent = traceparent;
    this.#call = call;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }
}
