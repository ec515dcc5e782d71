import type { Client } from '../client.ts';
import { history, pageSize } from '../history.ts';
import { inputPeer, type Person } from '../person.ts';

/** Pages asked for at most, of messages that are read and of newer ones each. */
const mostPages = 10;

/** Which messages of a chat are asked for. */
export interface SentRange {
  /** Network id of the last message that is known as read: it and older ones are left out. */
  readonly after: number;
  /** Network id of the message up to which the contact has read now. */
  readonly upTo: number;
  /** Unix time in seconds from which on messages are the gateway's. */
  readonly since: number;
}

/**
 * Asks the network for what was sent to somebody: network ids of messages up to `upTo`, and of newer ones, which this
 * process would not know when they are read.
 * @throws what the network answers, and when the connection is over
 */
export async function sentMessages(
  client: Client,
  person: Person,
  { after, upTo, since }: SentRange,
): Promise<readonly number[]> {
  const found: number[] = [];
  let before = 0;
  for (let pages = 0, newerPages = 0; pages < mostPages && newerPages <= mostPages; ) {
    const messages = await history(client, inputPeer(person), { before, after });
    found.push(
      ...messages.flatMap((one) =>
        one._ === 'message' && one.out && one.date >= since ? one.id : [],
      ),
    );
    const [newest, oldest] = [messages.at(0), messages.at(-1)];
    if (newest === undefined || oldest === undefined || messages.length < pageSize) break;
    // Nothing before it is the gateway's.
    if (oldest._ !== 'messageEmpty' && oldest.date < since) break;
    if (newest.id > upTo) newerPages += 1;
    else pages += 1;
    // Messages that are read have pages of their own.
    before = newerPages === mostPages ? Math.min(oldest.id, upTo + 1) : oldest.id;
  }
  return found;
}
