import { Long, type tl } from '@mtcute/core';
import type { Client } from './client.ts';

/** How many messages of a chat the network is asked for at once. */
export const pageSize = 100;

/** The newest messages of a chat, newest first, between two ids that are left out. */
export async function history(
  client: Client,
  peer: tl.TypeInputPeer,
  { before = 0, after = 0 }: { readonly before?: number; readonly after?: number },
): Promise<readonly tl.TypeMessage[]> {
  const answer = await client.call({
    _: 'messages.getHistory',
    peer,
    offsetId: before,
    offsetDate: 0,
    addOffset: 0,
    limit: pageSize,
    maxId: 0,
    minId: after,
    hash: Long.ZERO,
  });
  return 'messages' in answer ? answer.messages : [];
}
