import type { Long, tl } from '@mtcute/core';
import type { OutboundMessage } from '../../../core/contracts/driver.ts';
import type { Client } from '../client.ts';
import { history } from '../history.ts';
import { inputPeer, type Person } from '../person.ts';
import type { Progress, SentMessage } from '../progress.ts';
import { differenceSince } from '../updates/difference.ts';

/** Dependencies of the search for a message that the network already has. */
export interface RecoveryParts {
  readonly client: Client;
  readonly progress: Progress;
}

/**
 * Finds the message that the network already has: among the last sends, in the updates since the stored position, at
 * last in the chat by its text. It asks the network itself, since the follower of updates may wait for this very send.
 * @returns null when it is nowhere
 * @throws when the network does not answer
 */
export async function recover(
  { client, progress }: RecoveryParts,
  message: OutboundMessage,
  person: Person,
  randomId: Long,
): Promise<SentMessage | null> {
  const key = randomId.toString();
  const found =
    progress.find(key) ??
    (await inDifference(client, progress, randomId)) ??
    (await inChat(client, progress, message, person));
  if (found !== null) progress.sent(key, found);
  return found;
}

async function inDifference(
  client: Client,
  { position }: Progress,
  randomId: Long,
): Promise<SentMessage | null> {
  for await (const part of differenceSince(client, position)) {
    for (const update of part.updates) {
      if (update._ !== 'updateMessageID' || !update.randomId.eq(randomId)) continue;
      const message = part.messages.find(({ id }) => id === update.id);
      const date = message?._ === 'message' ? message.date : part.position.date;
      return { id: update.id, at: date * 1000 };
    }
  }
  return null;
}

async function inChat(
  client: Client,
  progress: Progress,
  message: OutboundMessage,
  person: Person,
): Promise<SentMessage | null> {
  const messages = await history(client, inputPeer(person), {});
  const found = messages.find((one) => isIt(one, message) && !progress.knows(one.id));
  return found?._ === 'message' ? { id: found.id, at: found.date * 1000 } : null;
}

function isIt(one: tl.TypeMessage, { text, media }: OutboundMessage): boolean {
  if (one._ !== 'message' || one.out !== true || one.message !== text) return false;
  // A preview that the network adds to a link is no media.
  const carries = one.media !== undefined && one.media._ !== 'messageMediaWebPage';
  return carries === (media !== null);
}
