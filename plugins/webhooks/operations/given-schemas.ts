import { Type } from 'typebox';
import { eventTypes } from '../../../core/contracts/events.ts';
import { Nullable, notBlank } from '../../../core/schemas.ts';

const list = eventTypes.map((type) => `\`${type}\``).join(', ');

/** An event type in a body; whether it is one of the tenant's is checked later, with a code of its own. */
export function GivenEventType(description: string, options: object = {}) {
  return Type.String({
    maxLength: 60,
    description: `${description}one of ${list}, as far as the account has it: \`list_webhook_events\``,
    examples: ['message.received'],
    ...options,
  });
}

/** The event types in a body. */
export const GivenEventTypes = Type.Array(GivenEventType(''), {
  minItems: 1,
  maxItems: 50,
  description: 'The event types to deliver, at least one; one that is given twice counts once.',
});

/** The accounts in a body whose events are delivered. */
export const GivenAccountIds = Nullable(
  Type.Array(Type.String(), {
    minItems: 1,
    maxItems: 1_000,
    description:
      'Only events of these accounts are delivered, by their ids; null: of all. Events of no account are delivered in any case.',
    examples: [['acc_01j5x8zn1c8t6j1k3m5p7r9rst']],
  }),
);

/** The channels in a body whose events are delivered. */
export const GivenChannels = Nullable(
  Type.Array(Type.String({ maxLength: 60 }), {
    minItems: 1,
    maxItems: 50,
    description: 'Only events of accounts on these channels are delivered; null: of all.',
    examples: [['msgapp_web']],
  }),
);

/** The address in a body. */
export const GivenUrl = Type.String({
  minLength: 1,
  maxLength: 2_048,
  description:
    'Where events are delivered by POST: `https`, without credentials in it, and publicly reachable.',
  examples: ['https://example.com/hook'],
});

/** The name in a body. */
export function GivenName(more = '') {
  return Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: notBlank,
    description: `A unique name of your choice, which operations take instead of the id; never \`.\`, \`..\` or \`wh_…\`.${more}`,
    examples: ['orders'],
  });
}
