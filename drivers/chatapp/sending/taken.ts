import type { Long, tl } from '@mtcute/core';
import type { SentMessage } from '../progress.ts';

/** The message that the network says it took; null when it names none. Pure. */
export function takenIn(answer: tl.TypeUpdates, randomId: Long): SentMessage | null {
  if (answer._ === 'updateShortSentMessage') return { id: answer.id, at: answer.date * 1000 };
  if (answer._ !== 'updates' && answer._ !== 'updatesCombined') return null;
  for (const update of answer.updates) {
    if (update._ === 'updateMessageID' && update.randomId.eq(randomId)) {
      return { id: update.id, at: answer.date * 1000 };
    }
  }
  return null;
}
