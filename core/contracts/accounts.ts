import type { Caller } from './caller.ts';

/** An account as `GET /accounts` shows it. Times are ISO 8601 in UTC. */
export interface AccountView {
  readonly id: string;
  readonly channel: string;
  /** E.164 with its `+`, or another network's own identifier. */
  readonly identifier: string;
  /** Only a `connected` one can send. */
  readonly status: 'connected' | 'connecting' | 'disconnected' | 'restricted';
  /** Why, as a sentence for people; null while nothing hinders it. */
  readonly status_detail: string | null;
  /** When the status or its reason last changed. */
  readonly status_since: string;
  /** Until when the network lets it write to no new contacts; null when it may, or when nobody knows how long. */
  readonly new_contacts_blocked_until: string | null;
  /** Where it connects through, without the password; null: directly; a sentence when the gateway cannot open it. */
  readonly proxy: string | null;
  /** Today against the caps. */
  readonly limits: {
    readonly sends: number;
    readonly sends_cap: number;
    readonly new_contacts: number;
    readonly new_contacts_cap: number;
  };
  /** The day of its warm-up ramp, from 1; null without one. */
  readonly ramp_day: number | null;
  readonly created_at: string;
  readonly connected_at: string | null;
}

/**
 * Accounts as the container hands them out under the name `accounts`; in every process. What is written here holds for
 * plugins from outside; the gateway's own find more in `plugins/accounts/contract.ts`.
 */
export interface Accounts {
  /**
   * The caller's accounts, oldest first. To be called once the gateway is ready.
   * @throws GatewayError `api_not_enabled`, `unavailable`
   */
  list(caller: Caller): Promise<readonly AccountView[]>;
}

declare module '../container.ts' {
  interface Cradle {
    readonly accounts: Accounts;
  }
}
