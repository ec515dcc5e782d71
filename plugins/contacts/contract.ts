/** One row of `contacts`. Unique per tenant, channel and phone, or the network's id where it hides the phone. */
export interface Contact {
  readonly id: string;
  readonly tenantId: string;
  readonly channel: string;
  /** E.164 with `+`; null where the network hides it. */
  readonly phone: string | null;
  /** The network's opaque id, once known. */
  readonly networkId: string | null;
  /** Empty while unknown. */
  readonly name: string;
  /** The name was given through the API: the network's is not followed any more. */
  readonly nameSet: boolean;
  readonly doNotDisturb: boolean;
  readonly private: boolean;
  readonly automationPaused: boolean;
  /** Made through the API and not written to yet: the first message to it counts as one to a new contact. */
  readonly uncounted: boolean;
  readonly createdAt: number;
}

/** The contact of a message. */
export interface MessageRecipient extends Contact {
  /** Another contact has become one with it, once. */
  readonly wasMerged: boolean;
}

/** The address of a contact to find: by any of the two that is not null. */
export interface ContactKey {
  readonly tenantId: string;
  readonly channel: string;
  readonly phone: string | null;
  readonly networkId: string | null;
}

/** Contacts that turned out to be one person with another: the ids of those that go, each with the id of the one that stays. */
export type Merges = ReadonlyMap<string, string>;
