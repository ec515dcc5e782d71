import type { Unit } from '../../../core/contracts/storage.ts';
import type { EventRecord } from '../../events/contract.ts';
import { messageEvent } from '../events.ts';
import type { MessageReporter } from '../message-reporter.ts';
import type { StatusChange } from '../status.ts';
import type { StoredMessage } from '../tables/message-rows.ts';

/** How many messages one transaction changes: others wait for milliseconds. */
export const changedAtOnce = 100;

/** Decides about each message and writes what follows. Of an erased or private contact no event is raised. */
export async function changeQueued(
  unit: Unit,
  reporter: Pick<MessageReporter, 'report'>,
  messages: readonly StoredMessage[],
  decide: (message: StoredMessage) => StatusChange | null,
): Promise<void> {
  const contacts = await unit.contacts.byIds(messages.map((message) => message.contactId));
  const contactOf = new Map(contacts.map((contact) => [contact.id, contact]));
  const changed: StoredMessage[] = [];
  const events: EventRecord[] = [];
  for (const message of messages) {
    const step = decide(message);
    const contact = contactOf.get(message.contactId);
    if (step === null) continue;
    changed.push(step.message);
    if (contact === undefined || contact.private) continue;
    for (const one of step.raised) {
      events.push(messageEvent(one.message, contact, one.status, unit.now));
    }
  }
  await unit.messages.save(changed);
  await reporter.report(unit, changed);
  await unit.events.record(events);
}
