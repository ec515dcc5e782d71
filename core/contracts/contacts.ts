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

/** Contacts as the container hands them out under the name `contacts`; in every process. */
export interface Contacts {
  /**
   * One contact of the caller's, by its id or that of one that has become it; null when there is none.
   * @throws GatewayError `unavailable`
   */
  find(caller: ActingCaller, id: string): Promise<ContactView | null>;
}

declare module '../container.ts' {
  interface Cradle {
    readonly contacts: Contacts;
  }
}
