import type { LinkMethod } from './driver-linking.ts';

/** What a network can do, declared once; the gateway and the contract suite go by it. */
export interface DriverCapabilities {
  /** A send repeated with the same reference is shown once. Without it an uncertain send is never repeated. */
  readonly deduplicates: boolean;
  /**
   * To how many contacts `send` may be under way at once; to one contact never more than one. Default: 1. With more,
   * `DriverError.concerns` says who waits after an error.
   */
  readonly window?: number;
  /**
   * How far the network tells what became of a message. `none`: it ends as `sent`. `delivered`: that it arrived. `read`:
   * also that it was read.
   */
  readonly receipts: 'none' | 'delivered' | 'read';
  /** With `receipts: 'read'`: the network tells of reading alone, which counts for both. Default: false. */
  readonly readsOnly?: boolean;
  /** False: what is written while the account is away is lost, and so is what was not kept. Default: true. */
  readonly offlineMessages?: boolean;
  /** False: the network knows nothing of a link, so that nobody can end or replace it there. Default: true. */
  readonly remoteLink?: boolean;
  /**
   * `phone`: a message can go to any number. `address`: to any address that `Driver.address` takes, which is then the
   * `networkId` of the contact, whose phone is null. `contacts`: only to a known contact.
   */
  readonly recipients: 'phone' | 'address' | 'contacts';
  /** The longest text of one message, in characters; a longer one is refused at once. Absent: as long as the gateway's. */
  readonly maxText?: number;
  /** How an account is linked; the first is the default. */
  readonly linkMethods: readonly [LinkMethod, ...LinkMethod[]];
  /** What can be imported at the first connection. */
  readonly imports: { readonly contacts: boolean; readonly history: boolean };
  /** Messages can carry one media object. */
  readonly media: boolean;
  /** False: nobody minds how fast an account sends, so that its messages go out without pauses. Default: true. */
  readonly paced?: boolean;
  /** False: the network never stops an account from sending, so that it is never `restricted`. Default: true. */
  readonly restrictions?: boolean;
  /** True: every connection goes through `Port.proxy` where there is one, uploads and downloads included. Default: false. */
  readonly proxies?: boolean;
}

/** What an account of a network is called by, where that is not a phone number. */
export interface IdentifierRule {
  /** What to ask the user for, such as `an XMPP address, name@host`. */
  readonly description: string;
  /**
   * The identifier in the one form in which it is stored, or null when the text is none. Pure; a stored identifier
   * comes back unchanged. At most 100 characters, none of them a control character.
   */
  parse(text: string): string | null;
}

/** What a contact of a network is called by, where `recipients` is `address`. */
export interface AddressRule {
  /** What to ask the user for, such as `a nickname`. */
  readonly description: string;
  /**
   * The address in the one form in which it is stored, the `networkId` of events, or null when the text is none. Pure;
   * a stored address comes back unchanged. At most 190 characters, none of them a control character.
   */
  parse(text: string): string | null;
}
