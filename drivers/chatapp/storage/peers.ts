import type { IPeersRepository, IReferenceMessagesRepository } from '@mtcute/core';

/**
 * The library offers every user it ever sees, whole. What sending needs of them is far less and is kept by the
 * people of the account (people.ts); the library is not asked to find anybody.
 */
export const peersKeptElsewhere: IPeersRepository = {
  store: () => undefined,
  getById: () => null,
  getByUsername: () => null,
  getByPhone: () => null,
  deleteAll: () => undefined,
};

/** Messages through which members of a group can be reached; groups are left out. */
export const referencesKeptNowhere: IReferenceMessagesRepository = {
  store: () => undefined,
  getByPeer: () => null,
  delete: () => undefined,
  deleteByPeer: () => undefined,
  deleteAll: () => undefined,
};
