import { eventDescriptions, eventTypes } from '../../../../core/contracts/events.ts';
import { payloadSchema } from '../../../../core/event-payloads.ts';
import { plain } from '../../schemas.ts';
import { EventArguments } from './params.ts';

/** Events of the extension: those of webhooks but the ones about delivery itself, with the same payloads. */
const definitions = eventTypes.map((type) => ({
  name: type,
  description: eventDescriptions[type],
  delivery: ['webhook', 'poll'],
  inputSchema: plain(EventArguments),
  payloadSchema: plain(payloadSchema(type)),
}));

/** The definitions of the events that a tenant has. Pure. @param disabled its features that are switched off */
export function listedEvents(disabled: ReadonlySet<string>): readonly object[] {
  return definitions.filter(({ name }) => !disabled.has(`event:${name}`));
}
