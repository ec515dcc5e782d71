/** How long things may take or last, in milliseconds. Tests shorten them. */
export interface Timing {
  /** Between two questions whether the session still stands. */
  readonly probe: number;
  /** For one answer of the network, uploads and downloads aside. */
  readonly answer: number;
  /** For the network to take a message that was handed to it; uploads aside. */
  readonly send: number;
  /** For the network to be told that the link is over; the gateway waits for that only half a second longer. */
  readonly logOut: number;
  /** For the sends under way to be answered once another call was told that the session is gone. */
  readonly lastAnswers: number;
  /** For a piece of the update sequence that is missing to come by itself. */
  readonly gap: number;
  /** Before what could not be kept, or asked for, is tried again. */
  readonly retry: number;
  /** How long messages to new contacts are held back once the network refused one; it does not say for how long. */
  readonly newContacts: number;
}

/** As in production. A revoked session is found within `probe` and `answer` together: under a minute. */
export const usualTiming: Timing = {
  probe: 30_000,
  answer: 15_000,
  send: 60_000,
  logOut: 2_500,
  lastAnswers: 3_000,
  gap: 250,
  retry: 5_000,
  newContacts: 3_600_000,
};
