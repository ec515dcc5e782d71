import type { AsyncMessage, Envelope } from 'rabbitmq-client';

/** One message on its way to RabbitMQ. */
export interface Outgoing {
  readonly exchange: string;
  readonly routingKey: string;
  /** Further routing keys: each queue that one of them leads to gets the message once. */
  readonly copies?: readonly string[];
  readonly text: string;
  readonly properties?: Pick<Envelope, 'type' | 'correlationId' | 'replyTo' | 'headers'>;
  /** Written to disk before it is confirmed. */
  readonly durable?: boolean;
  /** RabbitMQ gives it back when it has no queue for it. */
  readonly mandatory?: boolean;
  /** On the monotonic clock of this process; nobody wants it afterwards, on either side. */
  readonly deadline?: number;
  /** It must not arrive twice: lost, rather than sent again, when its confirmation did not come. */
  readonly once?: boolean;
}

/** Longer routing keys and names cannot be written as AMQP. */
const longestKey = 255;

/** Whether AMQP can carry the routing keys. */
export function fitsAmqp(outgoing: Outgoing): boolean {
  const { routingKey, copies = [] } = outgoing;
  return [routingKey, ...copies].every((key) => Buffer.byteLength(key) <= longestKey);
}

/** What is left to its deadline in milliseconds; Infinity without one. */
export function timeLeft(outgoing: Outgoing): number {
  return (outgoing.deadline ?? Number.POSITIVE_INFINITY) - performance.now();
}

/** As the library wants it, at the moment of sending. */
export function envelopeOf(outgoing: Outgoing): Envelope {
  const { exchange, routingKey, copies = [], properties, durable, mandatory, deadline } = outgoing;
  return {
    exchange,
    routingKey,
    ...properties,
    // RabbitMQ's sender-selected distribution.
    ...(copies.length === 0 ? {} : { headers: { CC: [...copies] } }),
    ...(durable === true ? { durable } : {}),
    ...(mandatory === true ? { mandatory } : {}),
    ...(deadline === undefined ? {} : { expiration: String(Math.ceil(timeLeft(outgoing))) }),
  };
}

/** The text of a message that arrived; ours are all text, another's may be anything. */
export function bodyText(body: unknown): string {
  if (typeof body === 'string') return body;
  return Buffer.isBuffer(body) ? body.toString('utf8') : JSON.stringify(body ?? null);
}

/** The routing keys that a message was sent under. */
export function keysOf({
  routingKey,
  headers,
}: Pick<AsyncMessage, 'routingKey' | 'headers'>): readonly string[] {
  const copies: unknown = headers?.CC;
  const further = Array.isArray(copies) ? copies.filter((key) => typeof key === 'string') : [];
  return [routingKey, ...further];
}
