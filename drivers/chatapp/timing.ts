/** How long things may take or last, in milliseconds. Tests shorten them. */
export interface Timing {
  /** Interval of checks whether the session is still valid. */
  readonly probe: number;
  /** For one answer of the network, uploads and downloads aside. */
  readonly answer: number;
  /** For the network to take a message that was handed to it; uploads aside. */
  readonly send: number;
  /** For the upload of one file. */
  readonly upload: number;
  /** The longest wait of the network's that the transfer of a file sleeps through. */
  readonly transferWait: number;
  /** The longest time for which a received message waits until the network gives its file. */
  readonly fileWait: number;
  /** Time-out of a log-out; the gateway waits only half a second longer. */
  readonly logOut: number;
  /** Wait for answers of sends under way, after another call said that the session is gone. */
  readonly lastAnswers: number;
  /** Wait for a missing update before it is asked for. */
  readonly gap: number;
  /** Time without a push after which the network is asked for missed ones: it does not say when it loses one. */
  readonly quiet: number;
  /** Between two writes of how far updates were taken; after a crash those of so long come again. */
  readonly progress: number;
  /** The same while updates bring no event, as those of groups. */
  readonly eventlessProgress: number;
  /** Pause before a failed store or request is tried again. */
  readonly retry: number;
  /** Restriction of new contacts after a refusal, for which the network names no end. */
  readonly newContacts: number;
}

/** As in production. A revoked session is found within `probe` and `answer` together, unless a send finds it before. */
export const usualTiming: Timing = {
  probe: 120_000,
  answer: 15_000,
  send: 60_000,
  upload: 600_000,
  transferWait: 10_000,
  fileWait: 120_000,
  logOut: 2_500,
  lastAnswers: 3_000,
  gap: 250,
  quiet: 900_000,
  progress: 250,
  eventlessProgress: 60_000,
  retry: 5_000,
  newContacts: 3_600_000,
};
