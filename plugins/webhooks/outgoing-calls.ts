import { Type } from 'typebox';
import { allEventTypes, type EventType, eventDescriptions } from '../../core/contracts/events.ts';
import { payloadSchema } from '../../core/event-payloads.ts';
import type { OutgoingCall } from '../../core/outgoing-call.ts';
import { samplePayload } from './samples.ts';

/** The time of the samples in the documentation. */
const sampleAt = Date.UTC(2026, 0, 31, 9, 30);

const Text = Type.String();
const Seconds = Type.String({ pattern: '^\\d+$' });
const signed = 'When signing is on: ';

/** The headers of a delivery, beside `Content-Type` and `User-Agent`. */
const headers: OutgoingCall['headers'] = [
  {
    name: 'X-Webhook-Event',
    required: true,
    description: 'The event type.',
    schema: Text,
  },
  {
    name: 'X-Webhook-Delivery',
    required: true,
    description: 'The id of the delivery, the same on every attempt and replay.',
    schema: Type.String({ examples: ['dlv_01j5x8zs8h2y0p5q7r9t1v3xz0'] }),
  },
  {
    name: 'X-Webhook-Attempt',
    required: true,
    description: 'Which attempt it is, from 1.',
    schema: Seconds,
  },
  {
    name: 'traceparent',
    required: false,
    description:
      'Where the message belongs to a trace: its place there, as W3C Trace Context writes it. The trace is the same on every attempt.',
    schema: Type.String({ pattern: '^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$' }),
  },
  {
    name: 'X-Webhook-Timestamp',
    required: false,
    description: `${signed}Unix seconds of this attempt.`,
    schema: Seconds,
  },
  {
    name: 'X-Webhook-Signature',
    required: false,
    description: `${signed}\`v1=\` and the HMAC-SHA256 in hex, keyed with the whole secret, of the timestamp, a dot and the body.`,
    schema: Type.String({ pattern: '^v1=[0-9a-f]{64}$' }),
  },
  {
    name: 'webhook-id',
    required: false,
    description: `${signed}the same as \`X-Webhook-Delivery\`, for libraries of Standard Webhooks.`,
    schema: Text,
  },
  {
    name: 'webhook-timestamp',
    required: false,
    description: `${signed}the same as \`X-Webhook-Timestamp\`.`,
    schema: Seconds,
  },
  {
    name: 'webhook-signature',
    required: false,
    description: `${signed}\`v1,\` and the HMAC-SHA256 in base64, keyed with the bytes that the secret means, of id, timestamp and body with dots between; for a time after a rotation one more, after a space.`,
    schema: Type.String({ pattern: '^v1,\\S+( v1,\\S+)?$' }),
  },
];

/** The deliveries, for the documentation: one for each event type. */
export const outgoingCalls: readonly OutgoingCall[] = allEventTypes.map((type: EventType) => ({
  name: type,
  summary: type,
  description: eventDescriptions[type],
  headers,
  body: payloadSchema(type),
  example: samplePayload(type, sampleAt),
  answers: {
    '2XX': 'Taken, whatever the body of the answer is.',
    '410': 'A failure that pauses the URL at once.',
    default: 'A failure, a redirect too: tried again when the webhook has `retries_enabled`.',
  },
}));
