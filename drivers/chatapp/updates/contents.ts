import type { tl } from '@mtcute/core';

/** What one push of the network holds, whatever its form. */
export interface Contents {
  readonly updates: readonly tl.TypeUpdate[];
  readonly users: readonly tl.TypeUser[];
  /** Position in the sequence of pushes: 0 when it has none. */
  readonly seqStart: number;
  readonly seq: number;
  readonly date: number;
}

const unnumbered = { seqStart: 0, seq: 0 } as const;

/** Unpacks a push; null when it says only that there is too much to push. Pure. */
export function contentsOf(push: tl.TypeUpdates): Contents | null {
  switch (push._) {
    case 'updatesTooLong':
      return null;
    case 'updates':
      return { ...push, seqStart: push.seq };
    case 'updatesCombined':
      return push;
    case 'updateShort':
      return { updates: [push.update], users: [], date: push.date, ...unnumbered };
    case 'updateShortMessage': {
      const { userId, pts, ptsCount, date } = push;
      const message = messageOf(push, { _: 'peerUser', userId });
      return { updates: [created(message, pts, ptsCount)], users: [], date, ...unnumbered };
    }
    case 'updateShortChatMessage': {
      const { chatId, pts, ptsCount, date } = push;
      const message = messageOf(push, { _: 'peerChat', chatId });
      return { updates: [created(message, pts, ptsCount)], users: [], date, ...unnumbered };
    }
    case 'updateShortSentMessage': {
      const { pts, ptsCount, date } = push;
      return { updates: [moved(pts, ptsCount)], users: [], date, ...unnumbered };
    }
  }
}

function messageOf(
  { id, out, date, message }: tl.RawUpdateShortMessage | tl.RawUpdateShortChatMessage,
  peerId: tl.TypePeer,
): tl.RawMessage {
  return { _: 'message', id, out: out === true, peerId, date, message };
}

function created(message: tl.RawMessage, pts: number, ptsCount: number): tl.TypeUpdate {
  return { _: 'updateNewMessage', message, pts, ptsCount };
}

/** An update that only advances the sequence. */
function moved(pts: number, ptsCount: number): tl.TypeUpdate {
  return { _: 'updateDeleteMessages', messages: [], pts, ptsCount };
}
