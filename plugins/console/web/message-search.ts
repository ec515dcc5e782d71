import { Refusal } from '../../../client/refusal.ts';
import type { Message, Session } from './session.ts';

/** What a person looks for; an empty field asks for nothing. */
export interface Wanted {
  readonly words: string;
  readonly id: string;
  readonly direction: '' | Message['direction'];
  readonly status: '' | Message['status'];
  readonly errorCode: string;
  /** Days as a date field has them; both count. */
  readonly since: string;
  readonly until: string;
}

/** What was found so far. */
export interface Found {
  readonly wanted: Wanted;
  readonly messages: readonly Message[];
  readonly next: string | null;
}

/** Pages may be empty: so many are read before the person is asked whether to go on. */
const pagesAtMost = 10;

/**
 * Reads the next matches, or the first without `after`.
 * @throws Refusal, Unreachable
 */
export async function search(
  { client }: Session,
  wanted: Wanted,
  after: Found | null,
): Promise<Found> {
  const id = wanted.id.trim();
  if (id !== '') {
    try {
      return { wanted, messages: [await client.call('get_message', { path: { id } })], next: null };
    } catch (error) {
      const isUnknown = error instanceof Refusal && error.code === 'message_not_found';
      if (isUnknown) return { wanted, messages: [], next: null };
      throw error;
    }
  }
  const messages = [...(after?.messages ?? [])];
  const had = messages.length;
  let before = after?.next ?? null;
  for (let page = 0; page < pagesAtMost; page += 1) {
    const query = { ...queryOf(wanted), ...(before !== null && { before }) };
    const answer = await client.call('list_messages', { query });
    messages.push(...answer.messages);
    before = answer.next_cursor;
    if (before === null || messages.length > had) break;
  }
  return { wanted, messages, next: before };
}

function queryOf({ words, direction, status, errorCode, since, until }: Wanted) {
  return {
    ...(words.trim() !== '' && { q: words.trim() }),
    ...(direction !== '' && { direction }),
    ...(status !== '' && { status }),
    ...(errorCode.trim() !== '' && { error_code: errorCode.trim() }),
    ...(since !== '' && { since: midnight(since, 0) }),
    ...(until !== '' && { until: midnight(until, 1) }),
  };
}

/** When a day begins where the reader is, or one some days later: not each of them has 24 hours. */
function midnight(day: string, daysLater: number): string {
  const at = new Date(`${day}T00:00:00`);
  at.setDate(at.getDate() + daysLater);
  return at.toISOString();
}
