import { type ContactAddress, DriverError, type Port } from '../../../core/contracts/driver.ts';
import { type Client, NoAnswer } from '../client.ts';
import { contactWait, type NamedWaits } from '../named-waits.ts';
import type { People } from '../people.ts';
import { type Person, personContact } from '../person.ts';
import { meaningOf } from '../rpc-errors.ts';
import type { CredentialBuffer } from '../storage/credential-buffer.ts';
import type { ChatList } from './chat-list.ts';

/** Pause before the network is asked for a contact again, in milliseconds; the message waits. */
const failedPauseMs = 5_000;

/** Dependencies of finding a message's recipient. */
export interface RecipientParts {
  readonly buffer: CredentialBuffer;
  readonly people: People;
  readonly chatList: ChatList;
  readonly waits: NamedWaits;
  readonly client: Client;
  readonly port: Port;
}

/**
 * The person at an address: somebody the account has met, or whom the network knows by phone.
 * @throws DriverError `contact_unknown` when nobody has the address; `flood_wait`, `network_failed` or `no_answer`, with
 *   a time to try again, when the network did not say; else the network's refusal, or a failure of our own as it is
 */
export async function recipientOf(
  parts: RecipientParts,
  { phone, networkId }: ContactAddress,
  signal: AbortSignal,
): Promise<Person> {
  const known = networkId === null ? null : await byId(parts, Number(networkId), signal);
  const found = known ?? (phone === null ? null : await byPhone(parts, phone, signal));
  if (found === null) {
    const why = 'the account does not know this contact: let the contact write first';
    throw new DriverError('contact_unknown', why, { certain: true });
  }
  const anew = parts.people.meet(found.id);
  if (anew !== null) {
    await parts.port.emit({ type: 'identity', ...personContact(anew.person) });
    parts.people.keep([anew]);
    await parts.buffer.write();
  }
  return found;
}

async function byId(
  { people, chatList, waits, client }: RecipientParts,
  id: number,
  signal: AbortSignal,
): Promise<Person | null> {
  const known = await people.find(id);
  if (known !== null) return known;
  waits.refuseInside('messages.getDialogs', toWait);
  try {
    await client.until(chatList.takeOnce(client), { signal });
  } catch (error) {
    waits.note('messages.getDialogs', error);
    throw lookUpFailure(error);
  }
  return await people.find(id);
}

async function byPhone(
  { buffer, people, waits, client, port }: RecipientParts,
  phone: string,
  signal: AbortSignal,
): Promise<Person | null> {
  waits.refuseInside('contacts.resolvePhone', toWait);
  try {
    const answer = await client.call(
      { _: 'contacts.resolvePhone', phone: phone.slice(1) },
      { signal },
    );
    const changed = await people.take(answer.users);
    if (answer.peer._ !== 'peerUser') return null;
    // The network may not show the number that it found somebody by.
    const numbered = await people.change(answer.peer.userId, { phone });
    const found = await people.find(answer.peer.userId);
    if (found === null) return null;
    await port.emit({ type: 'identity', ...personContact(found) });
    // Contacts are stored where their events are emitted.
    people.keep(
      [...changed, ...(numbered === null ? [] : [numbered])].filter(
        ({ person }) => !person.contact,
      ),
    );
    // An erasure finds people by what is stored of them.
    await buffer.write();
    return found;
  } catch (error) {
    waits.note('contacts.resolvePhone', error);
    throw lookUpFailure(error);
  }
}

const toWait = 'the network asks to wait before it looks a contact up';

/** The error that a send ends with when its contact could not be looked up. */
function lookUpFailure(error: unknown): unknown {
  const meaning = meaningOf(error);
  if (meaning?.kind === 'wait') return contactWait(toWait, meaning.ms, error);
  if (meaning?.kind === 'internal') {
    return new DriverError('network_failed', 'the network failed to look a contact up', {
      certain: true,
      retryAfterMs: failedPauseMs,
      concerns: 'contact',
      cause: error,
    });
  }
  if (!(error instanceof NoAnswer)) return error;
  return new DriverError('no_answer', 'the network did not answer', {
    certain: true,
    retryAfterMs: 0,
    concerns: 'contact',
    cause: error,
  });
}
