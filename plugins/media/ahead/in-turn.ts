import type { MediaAhead } from '../contract.ts';

/** Fetches nothing ahead: each file is fetched while its message is sent. */
export const inTurn: MediaAhead = {
  begin: () => undefined,
  isSettled: () => true,
  settled: () => Promise.resolve(),
  take: () => Promise.resolve(null),
  forget: () => undefined,
};
