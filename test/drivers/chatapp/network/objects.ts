import { longOf } from './connection.ts';
import { type BoxMessage, now, type Person, type Step, type Subscriber } from './subscriber.ts';
import type { TlObject } from './tl.ts';

/** The id of the data center that clients begin with. */
export const dataCenter = 2;
/** The id of another one, in the same place. */
export const otherDataCenter = 4;

/** A person as one account sees them. */
export function userObject(person: Person, viewer: Subscriber): TlObject {
  const name = viewer.contacts.get(person.id);
  return {
    _: 'user',
    id: person.id,
    accessHash: longOf(person.accessHash),
    firstName: name ?? person.name,
    ...(person.isHidden === true ? {} : { phone: person.phone.slice(1) }),
    self: person.id === viewer.person.id,
    contact: name !== undefined,
  };
}

/** A message as one account sees it. */
export function messageObject(message: BoxMessage): TlObject {
  const { id, peer, out, text, date, media, attached } = message;
  if (message.isService === true) {
    const peerId = { _: 'peerUser', userId: peer };
    return { _: 'messageService', id, out, peerId, date, action: { _: 'messageActionPinMessage' } };
  }
  return {
    _: 'message',
    id,
    out,
    peerId: { _: 'peerUser', userId: peer },
    date,
    message: text,
    ...(media === null ? {} : { media: mediaObject(message) }),
    ...(attached === undefined ? {} : { media: attached }),
  };
}

function mediaObject({ id, media, date, file, dc }: BoxMessage): TlObject {
  const common = {
    id: longOf(BigInt(id)),
    accessHash: longOf(1n),
    fileReference: Buffer.from(file ?? ''),
    date,
    dcId: dc ?? dataCenter,
  };
  if (media === 'photo') {
    const sizes = [{ _: 'photoSize', type: 'x', w: 1, h: 1, size: fileSize(file) }];
    return { _: 'messageMediaPhoto', photo: { _: 'photo', ...common, sizes } };
  }
  const attributes = [{ _: 'documentAttributeFilename', fileName: file ?? 'file' }];
  const document = { ...common, mimeType: 'application/pdf', size: fileSize(file), attributes };
  return { _: 'messageMediaDocument', document: { _: 'document', ...document } };
}

const files = new Map<string, Buffer>();

/** The bytes of a stored file. */
export function fileBytes(name: string): Buffer {
  return files.get(name) ?? Buffer.alloc(0);
}

/** Stores a file; answers its name. */
export function storeFile(name: string, bytes: Buffer): string {
  files.set(name, bytes);
  return name;
}

function fileSize(name: string | null): number {
  return name === null ? 0 : fileBytes(name).length;
}

/** A step of an account's sequence as it is pushed or told later. */
export function updateObject(subscriber: Subscriber, { pts, what }: Step): TlObject {
  switch (what.type) {
    case 'message': {
      const message = subscriber.message(what.id);
      if (message === undefined) throw new Error('a step of a message that is not there');
      return { _: 'updateNewMessage', message: messageObject(message), pts, ptsCount: 1 };
    }
    case 'read': {
      const peer = { _: 'peerUser', userId: what.peer };
      return { _: 'updateReadHistoryOutbox', peer, maxId: what.upTo, pts, ptsCount: 1 };
    }
    case 'deleted':
      return { _: 'updateDeleteMessages', messages: what.ids, pts, ptsCount: 1 };
    case 'other':
      return { ...what.update, pts, ptsCount: 1 };
    case 'group': {
      const message = {
        _: 'message',
        id: what.id,
        peerId: { _: 'peerChat', chatId: 99 },
        fromId: { _: 'peerUser', userId: subscriber.person.id },
        date: now(),
        message: what.text,
      };
      return { _: 'updateNewMessage', message, pts, ptsCount: 1 };
    }
  }
}

/** Where an account's sequence stands after so many steps. */
export function stateObject(pts: number): TlObject {
  return { _: 'updates.state', pts, qts: 0, date: now(), seq: 0, unreadCount: 0 };
}

/** Updates in one push. */
export function updatesObject(updates: readonly TlObject[], users: readonly TlObject[]): TlObject {
  return { _: 'updates', updates, users, chats: [], date: now(), seq: 0 };
}
