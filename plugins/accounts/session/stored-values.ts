import type {
  AnswerOutcome,
  DriverEvent,
  InboundMedia,
  Sent,
} from '../../../core/contracts/driver.ts';
import { storedText } from '../../../core/stored-text.ts';

/**
 * An event with every text as databases keep it: else answers and webhooks would differ, and an id with such a text
 * would not be found again.
 */
export function storedEvent(event: DriverEvent): DriverEvent {
  switch (event.type) {
    case 'step':
      return withStored(event, { step: withStored(event.step) });
    case 'message': {
      const { from, media } = event;
      return withStored(event, { from: withStored(from), media: storedMedia(media) });
    }
    case 'contacts':
      return withStored(event, { contacts: event.contacts.map((one) => withStored(one)) });
    case 'history': {
      const messages = event.messages.map((one) => {
        const { contact, media } = one;
        return withStored(one, { contact: withStored(contact), media: storedMedia(media) });
      });
      return withStored(event, { messages });
    }
    default:
      return withStored(event);
  }
}

/** What a driver answered, with every text as databases keep it. */
export function storedAnswer<Answer extends Sent | AnswerOutcome>(answer: Answer): Answer {
  return withStored(answer);
}

function storedMedia(media: InboundMedia | null): InboundMedia | null {
  if (media === null) return null;
  const stored = withStored(media);
  // A driver's method may need the object that it was made in.
  const isCopy = stored !== media && media.open !== undefined;
  return isCopy ? { ...stored, open: media.open.bind(media) } : stored;
}

/** The value itself, or a copy where a part or one of its own texts is another one. */
function withStored<Value extends object>(value: Value, parts: Partial<Value> = {}): Value {
  const changes: Record<string, unknown> = { ...parts };
  for (const [name, own] of Object.entries(value)) {
    if (typeof own === 'string') changes[name] = storedText(own);
  }
  const isSame = Object.entries(changes).every(([name, part]) => Reflect.get(value, name) === part);
  return isSame ? value : { ...value, ...changes };
}
