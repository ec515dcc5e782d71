import type { ActingCaller } from './caller.ts';

/** A contact as `GET /contacts/{id}` shows it. */
export interface ContactView {
  readonly id: string;
  /** E.164; null where the network hides it. */
  readonly phone: string | null;
  /** What the network knows it by: the phone, else its address or opaque id there. */
  readonly address: string;
  /** Empty while unknown. */
  readonly name: string;
  readonly channel: string;
  readonly do_not_disturb: boolean;
  readonly private: boolean;
  readonly automation_paused: boolean;
  /** ISO 8601 in UTC. */
  readonly created_at: string;
}

/** Which contacts a page shows: the query of `GET /contacts`. */
export interface ContactQuery {
  /** 1 to 100; 50 when absent. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the page before; absent for the newest. */
  readonly before?: string | undefined;
  readonly channel?: string | undefined;
  /** E.164, with its `+`. */
  readonly phone?: string | undefined;
  /** A phone number, or the network's id. */
  readonly address?: string | undefined;
}

/** A page of contacts, newest first. */
export interface ContactPage {
  readonly contacts: ContactView[];
  /** Null when there is no further page. */
  readonly next_cursor: string | null;
}

/** What is to change of a contact; what is absent stays. */
export interface ContactChange {
  /** Empty: the name that the network shows. */
  readonly name?: string | undefined;
  readonly do_not_disturb?: boolean | undefined;
  readonly private?: boolean | undefined;
  readonly automation_paused?: boolean | undefined;
}

/** Contacts as the container hands them out under the name `contacts`; in every process. */
export interface Contacts {
  /**
   * One contact of the caller's, by its id or that of one that has become it; null when there is none.
   * @throws GatewayError `unavailable`
   */
  find(caller: ActingCaller, id: string): Promise<ContactView | null>;
  /**
   * A page of the caller's contacts, as `GET /contacts` answers it.
   * @throws GatewayError `invalid_cursor`, `invalid_phone_number`, `unavailable`, or `invalid_request` for an unknown channel
   */
  list(caller: ActingCaller, query?: ContactQuery): Promise<ContactPage>;
  /**
   * Changes a contact as `PATCH /contacts/{id}` does, and answers it; null where `find` answers null.
   * @throws GatewayError `unavailable`
   */
  change(caller: ActingCaller, id: string, change: ContactChange): Promise<ContactView | null>;
}

declare module '../container.ts' {
  interface Cradle {
    readonly contacts: Contacts;
  }
}
