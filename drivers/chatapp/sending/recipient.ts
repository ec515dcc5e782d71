import { type ContactAddress, DriverError } from '../../../core/contracts/driver.ts';
import type { Client } from '../client.ts';
import type { People, Person } from '../people.ts';
import { isRpcError } from '../rpc-errors.ts';

/**
 * The person at an address: somebody the account has met, or whom the network knows by phone.
 * @throws DriverError `contact_unknown` when there is nobody; what the network answers otherwise
 */
export async function recipientOf(
  { people, client }: { readonly people: People; readonly client: Client },
  { phone, networkId }: ContactAddress,
  signal: AbortSignal,
): Promise<Person> {
  const known = networkId === null ? null : await people.find(Number(networkId));
  if (known !== null) return known;
  const found = phone === null ? null : await byPhone({ people, client }, phone, signal);
  if (found !== null) return found;
  throw new DriverError('contact_unknown', 'the account does not know this contact', {
    certain: true,
  });
}

async function byPhone(
  { people, client }: { readonly people: People; readonly client: Client },
  phone: string,
  signal: AbortSignal,
): Promise<Person | null> {
  try {
    const answer = await client.call(
      { _: 'contacts.resolvePhone', phone: phone.slice(1) },
      { signal },
    );
    const changed = await people.take(answer.users);
    // Contacts are stored where their events are emitted.
    people.keep(changed.filter(({ person }) => !person.contact));
    return answer.peer._ === 'peerUser' ? await people.find(answer.peer.userId) : null;
  } catch (error) {
    if (isRpcError(error)) throw error;
    // `certain`: the message was not sent, since only its recipient was being resolved.
    throw new DriverError('no_answer', 'the network did not answer', {
      certain: true,
      retryAfterMs: 0,
      concerns: 'contact',
      cause: error,
    });
  }
}
