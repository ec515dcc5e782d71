import type { Clock } from '../../core/contracts/clock.ts';
import type { EventType } from '../../core/contracts/events.ts';
import { traceparentOf } from '../../core/spans.ts';
import type { Egress } from '../egress/contract.ts';
import { endAttemptSpan, startAttemptSpan } from './attempt-span.ts';
import { signature, standardSignature } from './signature.ts';
import type { SigningSecrets } from './subscriptions/secret.ts';
import type { Attempt } from './tables/delivery-rows.ts';

/** Request of one attempt. */
export interface AttemptRequest {
  readonly url: string;
  readonly event: EventType;
  /** `dlv_…` */
  readonly deliveryId: string;
  /** From 1. */
  readonly number: number;
  /** When it is made, by the database's clock. */
  readonly at: number;
  /** The body, byte for byte as it is signed and sent. */
  readonly payload: string;
  /** Makes the headers, signed for a time in Unix seconds. */
  headersAt(timestamp: number): Readonly<Record<string, string>>;
  /** The `traceparent` of the event; null or absent without a trace. */
  readonly trace?: string | null;
}

/** Contents of an attempt's headers. */
export interface AttemptContents
  extends Pick<AttemptRequest, 'event' | 'deliveryId' | 'number' | 'payload'> {
  /** Null while signing is off. */
  readonly secrets: SigningSecrets | null;
}

/**
 * The log entry of an attempt for which nothing was sent.
 * @param message why, for whoever receives the webhook
 * @param unsent whether a retry may send something
 */
export function unsentAttempt(
  number: number,
  at: number,
  message: string,
  unsent: 'retried' | 'final',
): Attempt {
  const failure = { kind: 'blocked', message } as const;
  return { number, at, durationMs: 0, statusCode: null, answer: '', failure, unsent };
}

/** Dependencies and time-outs of an attempt. */
export interface AttemptParts {
  readonly egress: Egress;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** `webhooks.timeout_s`, in milliseconds. */
  readonly timeoutMs: number;
  /** `webhooks.connect_timeout_s`, in milliseconds. */
  readonly connectTimeoutMs: number;
}

/**
 * Makes one attempt: signs the body, posts it and answers the result. Called by the engine for deliveries and by the
 * test operation. Never rejects.
 * @param signal aborts the attempt, which then is a failure
 */
export async function attempt(
  parts: AttemptParts,
  request: AttemptRequest,
  signal?: AbortSignal,
): Promise<Attempt> {
  const { egress, clock, timeoutMs, connectTimeoutMs } = parts;
  const { number, at } = request;
  const begun = clock.monotonic();
  const span = startAttemptSpan(request);
  const trace = traceparentOf(span);
  const headers = request.headersAt(Math.floor(at / 1000));
  const outcome = await egress.post({
    url: request.url,
    headers: { ...headers, ...(trace === null ? {} : { traceparent: trace }) },
    body: request.payload,
    timeoutMs,
    connectTimeoutMs,
    hasSuccessor: true,
    ...(signal === undefined ? {} : { signal }),
  });
  if (span !== null) endAttemptSpan(span, outcome);
  const durationMs = Math.round(clock.monotonic() - begun);
  const made = { number, at, durationMs };
  if (!outcome.answered) {
    return { ...made, statusCode: null, answer: '', failure: outcome.failure };
  }
  const { status, text } = outcome.answer;
  const isTaken = status >= 200 && status <= 299;
  return {
    ...made,
    statusCode: status,
    answer: text,
    failure: isTaken
      ? null
      : { kind: 'status', message: `The receiver answered ${status} instead of 2xx.` },
  };
}

/**
 * Headers of one attempt (specification: Delivery headers), with
 * those of Standard Webhooks beside them, without signing headers while signing is off. Pure.
 * @param timestamp Unix seconds
 */
export function attemptHeaders(
  { event, deliveryId, number, payload, secrets }: AttemptContents,
  timestamp: number,
): Readonly<Record<string, string>> {
  return {
    'content-type': 'application/json',
    'user-agent': 'Webhook-Delivery/1.0',
    'x-webhook-event': event,
    'x-webhook-delivery': deliveryId,
    'x-webhook-attempt': String(number),
    ...(secrets === null
      ? {}
      : {
          'x-webhook-timestamp': String(timestamp),
          'x-webhook-signature': signature(secrets.current, timestamp, payload),
          'webhook-id': deliveryId,
          'webhook-timestamp': String(timestamp),
          'webhook-signature': standardSignature(secrets, deliveryId, timestamp, payload),
        }),
  };
}
