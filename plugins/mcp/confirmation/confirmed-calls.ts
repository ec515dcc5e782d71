import type { FastifyReply } from 'fastify';
import { canonicalJson } from '../../../core/canonical-json.ts';
import type { Caller } from '../../../core/contracts/caller.ts';
import { type ErrorDeclaration, GatewayError } from '../../../core/errors.ts';
import { idempotencyKeyHeader } from '../../../core/sending.ts';
import type {
  QuestionedOperation,
  RequestHandling,
  RequestParts,
  ServedAnswer,
} from '../../api/contract.ts';
import type { AskedCall, Confirmations, ReadState } from '../../confirmations/contract.ts';
import type { ToolCalls } from '../calls.ts';
import type { StatelessOutcome } from '../contract.ts';
import type { Fields } from '../stateless/protocol.ts';
import type { OperationTool } from '../tools.ts';
import { answerIn, asking, canAsk, type PersonsAnswer } from './form.ts';

/** A person said no. It is answered to agents alone, who learn no more of it than this. */
const declined: ErrorDeclaration = {
  code: 'confirmation_declined',
  status: 403,
  text: 'Not sent: the person declined. Do not send it again unless the person asks for it.',
};

/** Dependencies of confirmed calls. */
export interface ConfirmedCallsParts {
  readonly calls: ToolCalls;
  readonly requestHandling: Pick<RequestHandling, 'serve' | 'question'>;
  /** Asked for with the first question: few gateways ask any. */
  confirmations(): Confirmations;
}

/** What is neither an answer nor a refusal of the operation: a question, or why a state is not taken. */
type Unanswered = { readonly asked: ReturnType<typeof asking> } | { readonly refused: string };

/** Calls of a key whose messages a person confirms, by clients that can ask. */
export class ConfirmedCalls {
  readonly #parts: ConfirmedCallsParts;

  constructor(parts: ConfirmedCallsParts) {
    this.#parts = parts;
  }

  /**
   * Asks before the call is done, or takes the answer that comes with it. Null where there is nothing to ask, or nobody: it
   * is called as any other then. Never rejects.
   */
  async call(
    { operation, ...tool }: OperationTool,
    params: Fields,
    caller: Caller,
    reply: FastifyReply,
  ): Promise<StatelessOutcome | null> {
    if (!caller.confirmSends || !isQuestioned(operation) || !canAsk(params)) return null;
    const given = params.arguments ?? {};
    return await this.#parts.calls.run<Unanswered>(
      { operation, ...tool },
      { given, meta: params._meta, caller, era: 'stateless', reply },
      (parts) => {
        // Before the parts are validated, which fills in defaults where they share objects with the arguments.
        const call = { keyId: caller.keyId, tool: tool.listed.name, arguments: canonical(given) };
        return this.#step(operation, parts, { call, params, reply });
      },
    );
  }

  async #step(
    operation: QuestionedOperation,
    parts: RequestParts,
    { call, params, reply }: { call: AskedCall; params: Fields; reply: FastifyReply },
  ): Promise<ServedAnswer | Unanswered> {
    const { requestHandling } = this.#parts;
    const confirmations = this.#parts.confirmations();
    const given = await this.#given(call, params);
    if (typeof given === 'string') return { refused: given };
    if (given !== null && given.answer !== null) {
      const answer = given.answer === 'accept' ? 'accept' : 'decline';
      // What is done once under its key may be repeated by whoever did not hear the outcome.
      const isTaken = await confirmations.use(given.state, isKeyed(operation) ? answer : undefined);
      if (!isTaken)
        return { refused: 'requestState was used already: call without it to ask anew' };
      if (answer === 'decline') throw new GatewayError(declined);
    }
    const keyed = given === null ? parts : withKey(operation, parts, given.state);
    const question = await requestHandling.question(operation, keyed, reply);
    // What would be done may have changed since the person was asked: then that is asked.
    const isConfirmed = given !== null && given.answer !== null;
    if (question === null || (isConfirmed && given.state.asks(question.text))) {
      return await requestHandling.serve(operation, keyed, reply, question ?? {});
    }
    const { text } = question;
    return { asked: asking(text, await confirmations.seal(call, text, given?.state)) };
  }

  /** The state that comes with the call, with the person's answer; null without one, a sentence where it is refused. */
  async #given(
    call: AskedCall,
    params: Fields,
  ): Promise<{ readonly state: ReadState; readonly answer: PersonsAnswer } | null | string> {
    if (params.requestState === undefined) return null;
    const state = await this.#parts.confirmations().read(params.requestState, call);
    if (typeof state === 'string') return state;
    const read = answerIn(params);
    if (typeof read === 'string') return read;
    return { state, answer: read.answer };
  }
}

const keyHeader = idempotencyKeyHeader.name.toLowerCase();

function isKeyed({ headers = [] }: QuestionedOperation): boolean {
  return headers.some(({ name }) => name.toLowerCase() === keyHeader);
}

/** The parts under the key of the state, where the caller gave none and the operation takes one. */
function withKey(operation: QuestionedOperation, parts: RequestParts, state: ReadState) {
  if (!isKeyed(operation) || parts.headers?.[keyHeader] !== undefined) return parts;
  return { ...parts, headers: { ...parts.headers, [keyHeader]: `confirmation ${state.key}` } };
}

/** @throws GatewayError `invalid_request` when they are nested too deeply to be read */
function canonical(given: unknown): string {
  try {
    return canonicalJson(given);
  } catch (cause) {
    const message = 'arguments are nested too deeply';
    throw new GatewayError('invalid_request', {
      message,
      details: [{ path: '', message }],
      cause,
    });
  }
}

function isQuestioned(operation: OperationTool['operation']): operation is QuestionedOperation {
  return operation.question !== undefined;
}
