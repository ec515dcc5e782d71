import { type ContactAddress, DriverError } from '../../../core/contracts/driver.ts';
import type { Client } from '../client.ts';
import type { People, Person } from '../people.ts';
import { isRpcError, meaningOf } from '../rpc-errors.ts';

/** Pause of a message before its contact's number is looked up once more, milliseconds. */
const failedPauseMs = 5_000;

/**
 * The person at an address: somebody the account has met, or whom the network knows by phone.
 * @throws DriverError `contact_unknown` when nobody has the address; `flood_wait`, `network_failed` or `no_answer`, with
 *   a time to try again, when the network did not say; else the network's refusal
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
    throw lookUpFailure(error);
  }
}

/** The error of a message whose contact's number could not be looked up; the message was not sent. */
function lookUpFailure(error: unknown): unknown {
  const meaning = meaningOf(error);
  if (meaning?.kind === 'wait') {
    return new DriverError('flood_wait', 'the network asks to wait before it looks a number up', {
      certain: true,
      retryAfterMs: meaning.ms,
      concerns: 'contact',
      cause: error,
    });
  }
  if (meaning?.kind === 'internal') {
    return new DriverError('network_failed', 'the network failed to look a number up', {
      certain: true,
      retryAfterMs: failedPauseMs,
      concerns: 'contact',
      cause: error,
    });
  }
  if (isRpcError(error)) return error;
  return new DriverError('no_answer', 'the network did not answer', {
    certain: true,
    retryAfterMs: 0,
    concerns: 'contact',
    cause: error,
  });
}
