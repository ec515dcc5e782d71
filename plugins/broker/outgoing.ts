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
  /** RabbitMQ returns it when no queue takes it. */
  readonly mandatory?: boolean;
  /** Deadline on the monotonic clock of this process; later the message is dropped on either side. */
  readonly deadline?: number;
  /** At most once: lost, rather than sent again, without a confirmation. */
  readonly once?: boolean;
}

/** What arrives at one process: a request or the answer to one, on RabbitMQ or from the process itself. */
export type Addressed = Pick<
  AsyncMessage,
  'type' | 'correlationId' | 'replyTo' | 'headers' | 'body'
>;

/** Longer routing keys and names cannot be written as AMQP. */
const longestKey = 255;

/** Whether AMQP can carry the routing keys. */
export function fitsAmqp(outgoing: Outgoing): boolean {
  const { routingKey, copies = [] } = outgoing;
  return [routingKey, ...copies].every((key) => Buffer.byteLength(key) <= longestKey);
}

/** Time to its deadline in milliseconds; Infinity without one. */
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

/** The body of a message as text; that of a foreign sender may be anything. */
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
