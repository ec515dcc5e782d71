import type {
  ContactAddress,
  DriverAccount,
  DriverFactory,
  LinkStep,
} from '../../../core/contracts/driver.ts';

/** What the contract suite is given. */
export interface DriverContract {
  /** Part of the names of the tests. */
  readonly name: string;
  /**
   * Makes the driver. A restart of the suite calls it again, once the first driver is closed. Each driver is checked as at
   * the start of the gateway.
   */
  readonly makeDriver: DriverFactory;
  readonly world: DriverWorld;
  /** How long the suite waits for what must come, in milliseconds; 3 s when absent. */
  readonly patienceMs?: number;
}

/** The steps that the owner of the phone can act on. */
export type ShownStep = Extract<LinkStep, { type: 'show_qr' | 'show_code' }>;

/** What reached a contact. */
export interface ShownMessage {
  /** The id that receipts carry; null where the network gives messages none. */
  readonly networkId: string | null;
  readonly text: string;
  /** Whether a file came with it. Asked for only with `media`. */
  readonly hasFile?: boolean;
}

/** What a contact sends that is no text. */
export type SentKind = 'location' | 'contact' | 'poll' | 'reaction';

/** What a contact writes. */
export interface WrittenMessage {
  /** Someone of `contact`. */
  readonly from: ContactAddress;
  readonly name: string;
  readonly text: string;
  /** A repeated id is the same message; absent: a new one. */
  readonly networkId?: string;
  /** An image comes with it: any image of this file name will do, and nothing is fetched. */
  readonly mediaUrl?: string;
}

/**
 * The far side of a driver: the network, the owners of the phones and their contacts, as the suite plays
 * them. Whoever has a driver to test implements it on a network of their own, most likely a small server on
 * loopback. Every call resolves once the network has taken the change; what follows from it at the driver may
 * come a little later, and the suite waits for it.
 */
export interface DriverWorld {
  /** A new account, with a phone that nobody has linked. At first it accepts what is sent from it, without receipts. */
  account(): Promise<DriverAccount>;
  /** What has come from the driver so far, all accounts together. */
  traffic(): { readonly connections: number; readonly bytes: number };

  /** The owner scans the QR code or types the pairing code. */
  scan(account: DriverAccount, step: ShownStep): Promise<void>;
  /**
   * The owner of another number does so, to whom somebody has written before; null when the network does not tell
   * who linked, or links nobody but the account's owner.
   */
  readonly scanAsAnother: ((account: DriverAccount, step: ShownStep) => Promise<void>) | null;
  /** The login code that the network sent to the owner. Asked for only with the link method `code`. */
  loginCode(account: DriverAccount): Promise<string>;
  /** The password that the owner logs in with. Asked for only with the link method `password`. */
  password(account: DriverAccount): Promise<string>;
  /** What the owner answers to any other question. Asked for only where the driver asks for such a field. */
  answer?(account: DriverAccount, field: string): Promise<string>;
  /** Gives the account a second factor; null when the network has no such thing. */
  readonly setPassword: ((account: DriverAccount, password: string) => Promise<void>) | null;
  /** The code that is shown runs out; the network shows the next one if it renews them. */
  codeRunsOut(account: DriverAccount): Promise<void>;
  /** The code that is shown was the last one and runs out. */
  codesExpire(account: DriverAccount): Promise<void>;
  /**
   * The network refuses the login that is under way, at the latest when its password is handed in; the next one, where
   * none is.
   */
  refuseLogin(account: DriverAccount): Promise<void>;

  /** Takes the network out of this account's reach, or back; a connection breaks. */
  setReachable(account: DriverAccount, reachable: boolean): Promise<void>;
  /** The account's connection breaks; a new one can be made. */
  drop(account: DriverAccount): Promise<void>;
  /** The owner unlinks the session on the phone. Only with `remoteLink`, as `replace`. */
  unlink(account: DriverAccount): Promise<void>;
  /** Another session takes this one's place. */
  replace(account: DriverAccount): Promise<void>;
  /** The network lets the account write to nobody, or to no new contact, until lifted. Only with `restrictions`. */
  restrict(account: DriverAccount, scope: 'all' | 'new_contacts'): Promise<void>;
  lift(account: DriverAccount): Promise<void>;

  /** How the network treats what is sent: with `refuse` the next `send` has to reject, `hold` takes it and never answers. */
  treatSends(account: DriverAccount, how: 'accept' | 'refuse' | 'hold'): Promise<void>;
  /** Somebody whom the account may write to; the same again for the same number. */
  contact(account: DriverAccount, number: number): Promise<ContactAddress>;
  /** Somebody to whom each send has to reject, for certain; absent where the network takes every address. */
  nobody?(account: DriverAccount): Promise<ContactAddress>;
  /** A contact takes another address, which is answered; absent where addresses stay as they are. */
  move?(account: DriverAccount, number: number): Promise<ContactAddress>;
  /**
   * A contact writes to the account, linked or not; answers the network's id, null where the network gives messages
   * none, so that the driver makes one.
   */
  write(account: DriverAccount, message: WrittenMessage): Promise<string | null>;
  /**
   * A contact sends something that is no text; answers the network's id. A location is 52.52 north, 13.405 east without a
   * name, a contact card is of Ben with +12025550177, a poll asks `Lunch?` with the options `Pizza` and `Sushi`. Null
   * when the network has no such things.
   */
  readonly writeKind:
    | ((account: DriverAccount, kind: SentKind, from: ContactAddress) => Promise<string>)
    | null;
  /** False: the network never says of a message which it has taken that it failed. Default: true. */
  readonly reportsFailures?: boolean;
  /** Reports how far a message of the account got. Only with `receipts`, and no further. */
  report(
    account: DriverAccount,
    message: { readonly reference: string; readonly networkId: string },
    status: 'delivered' | 'read' | 'failed',
  ): Promise<void>;
  /**
   * What the contacts were shown of the account's messages, in the order in which the network took them. Waits until what it
   * has taken has arrived.
   */
  shown(account: DriverAccount): Promise<readonly ShownMessage[]>;
  /** Puts contacts into the phone's address book, and messages from them into its past. Before linking. */
  setPast(
    account: DriverAccount,
    past: {
      readonly contacts: readonly { readonly contact: ContactAddress; readonly name: string }[];
      readonly history: readonly {
        readonly from: ContactAddress;
        readonly text: string;
        readonly at: number;
      }[];
    },
  ): Promise<void>;
}
