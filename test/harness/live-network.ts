import type { RunningGateway } from './gateway.ts';
import type { Line } from './sending.ts';
import { phoneNumber } from './story.ts';

/** Who writes to each account, and is written to. */
export const friend = phoneNumber(9_001);

/** Contacts of each account, nine of them: more than may have a message under way at once. */
export const friends: readonly string[] = Array.from({ length: 9 }, (_, n) =>
  phoneNumber(9_001 + n),
);

/** What numbers are linked with. */
export interface Linking {
  readonly gateway: RunningGateway;
  readonly databaseUrl: string;
  readonly count: number;
}

/** A network with the real protocol, as the storms play it: the same for each channel. */
export interface LiveNetwork {
  /** What leads a gateway there. */
  readonly settings: Readonly<Record<string, string>>;
  /** Connects so many numbers of the gateway's live tenant, through it or past it. */
  link(linking: Linking): Promise<readonly Line[]>;
  /** How often each number has logged in so far. */
  logins(): Promise<Readonly<Record<string, number>>>;
  setReachable(reachable: boolean): Promise<void>;
  /** Somebody writes to a number. */
  write(phone: string, text: string): Promise<void>;
  /** The texts that a number's contacts were shown, repeats of the network's client included. */
  shown(phone: string): Promise<readonly string[]>;
}
