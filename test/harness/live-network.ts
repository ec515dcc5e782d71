import type { LogIn } from '../networks/log-ins.ts';
import type { MeasuringControl } from '../networks/measured-sends.ts';
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
  readonly channel: string;
  /** What leads a gateway there. */
  readonly settings: Readonly<Record<string, string>>;
  readonly control: MeasuringControl;
  /** Connects so many numbers of the gateway's live tenant, as users do where that does not take too long. */
  link(linking: Linking): Promise<readonly Line[]>;
  /** The same of numbers that were linked long ago: past the gateway, which is stopped and started again. */
  linkedAlready(linking: Linking): Promise<readonly Line[]>;
  /** Whatever a number sends is read at once from now on. */
  readAtOnce(phone: string): Promise<void>;
  /** How often each number has logged in so far. */
  logins(): Promise<Readonly<Record<string, number>>>;
  /** The log-ins since a moment, by `clockNow`. */
  logInsSince(at: number): Promise<readonly LogIn[]>;
  setReachable(reachable: boolean): Promise<void>;
  /** Somebody writes to a number. @param from `friend` when absent */
  write(phone: string, text: string, from?: string): Promise<void>;
  /** The texts that a number's contacts were shown, repeats of the network's client included. */
  shown(phone: string): Promise<readonly string[]>;
}
