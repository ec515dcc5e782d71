import { SpanKind } from '@opentelemetry/api';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Messages, SendBody } from '../../../core/contracts/messages.ts';
import { GatewayError } from '../../../core/errors.ts';
import { wrongField, wrongFields } from '../../../core/field-refusals.ts';
import {
  contextOf,
  endWith,
  messagingAttributes,
  startSpan,
  traceparentOf,
} from '../../../core/spans.ts';
import { validationDetails } from '../../../core/validation-messages.ts';
import type { FindAddresses, SendDecision, SendInput } from './input.ts';
import type { AskSend } from './question.ts';
import { sendInput, type UntracedSend } from './request.ts';
import { sendBody } from './schemas.ts';

/** Whether one of these accounts has exchanged messages with a contact. */
export type IsKnown = (
  tenantId: string,
  contactId: string,
  accountIds: ReadonlySet<string>,
) => Promise<boolean>;

/** Accepts one message, or throws its refusal. */
export type Send = Messages['send'];

/** Dependencies of the reading of bodies. */
export interface BodyParts {
  /** Media may be sent from an address without TLS. */
  readonly allowHttp: boolean;
  /** What a given address is on each channel. */
  readonly addresses: FindAddresses;
  /** Asked for keys that are limited to some accounts. */
  readonly isKnown: IsKnown;
}

/** Sends bodies that their schema has validated, as the route of `POST /messages` does. */
export function makeSend(
  accept: (input: SendInput) => Promise<SendDecision>,
  { allowHttp, addresses, isKnown }: BodyParts,
): Send {
  return async (caller, body, idempotencyKey, traceparent = null) => {
    if (caller.confirmSends === true) throw new GatewayError('confirmation_required');
    const known = sendInput(caller, body, addresses, idempotencyKey, allowHttp);
    // Without a wait where nothing is asked: the lane then knows whose request it is.
    const send = known.accountIds === null ? known : await withStranger(known, isKnown);
    const decision = await acceptTraced(accept, send, traceparent);
    if ('refused' in decision) throw decision.refused;
    return decision.accepted;
  };
}

/**
 * Accepts a send under a span of its own, whose trace context the message keeps: all that becomes of it is below.
 * @param traceparent of the request; null without a trace
 */
function acceptTraced(
  accept: (input: SendInput) => Promise<SendDecision>,
  send: UntracedSend,
  traceparent: string | null,
): Promise<SendDecision> {
  const span = startSpan('accept', {
    kind: SpanKind.PRODUCER,
    parent: contextOf(traceparent),
    attributes: () => messagingAttributes('accept', send.id, null),
  });
  return endWith(span, accept({ ...send, trace: traceparentOf(span) }), {
    result: (decision) => ('refused' in decision ? decision.refused.code : null),
    error: () => 'unavailable',
  });
}

/** Says whether the contact is a stranger to the key. The lane refuses it, as other refusals and a repeat come first. */
async function withStranger(send: UntracedSend, isKnown: IsKnown): Promise<UntracedSend> {
  const { tenantId, accountIds, contactId } = send;
  if (accountIds === null || contactId === null) return send;
  return { ...send, isStranger: !(await isKnown(tenantId, contactId, accountIds)) };
}

/** Asks about bodies that their schema has validated. @param ask puts one send into words, from the lane's input */
export function makeAskSend(
  ask: (input: SendInput) => ReturnType<AskSend>,
  { allowHttp, addresses, isKnown }: BodyParts,
): AskSend {
  return async (caller, body, idempotencyKey) => {
    const send = sendInput(caller, body, addresses, idempotencyKey, allowHttp);
    return await ask({ ...(await withStranger(send, isKnown)), trace: null });
  };
}

/** Sends bodies that other plugins have put together, which no route has validated. */
export function checkedSend(send: Send, maxText: number): Send {
  // Compiled for the first of them: most gateways have no such plugin.
  let check: ValidateFunction | undefined;
  return async (caller, body, idempotencyKey, traceparent) => {
    check ??= new Ajv2020({ strict: false, validateSchema: false }).compile(sendBody(maxText));
    if (!check(body)) throw wrongFields(validationDetails('body', check.errors ?? []));
    refuseOddText(body);
    return await send(caller, body, idempotencyKey, traceparent);
  };
}

/** What the API refuses in every text; it comes about when texts are cut. */
function refuseOddText({ text }: SendBody): void {
  if (!/[\0\p{Surrogate}]/u.test(text)) return;
  throw wrongField('body/text', 'has a NUL character or half a surrogate pair');
}
