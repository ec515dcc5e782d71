import type { LinkStep } from '../../../core/contracts/driver.ts';
import type { AccountState, ConnectOptions, Mode } from '../contract.ts';
import type { ErasedCredentials } from '../lanes/forget.ts';

/** A request to the process that hosts, or is to host, an account's session. JSON. */
export type SessionRequest =
  | ({ readonly operation: 'connect' } & ConnectRequest)
  | { readonly operation: 'view'; readonly accountId: string }
  | {
      readonly operation: 'answer';
      readonly accountId: string;
      readonly field: string;
      readonly value: string;
    }
  /** A contact was erased: delete these credentials. */
  | ({ readonly operation: 'forget'; readonly accountId: string } & ErasedCredentials)
  /** The record is gone: log out of the network. */
  | { readonly operation: 'removed'; readonly accountId: string };

/** What a connect has done in a process that stopped, and that was not undone. JSON. */
export interface ConnectBegun {
  /** It has ended a link that was in use. */
  readonly replaced: boolean;
}

/** A connect operation, checked by the process that took the call. */
export interface ConnectRequest {
  readonly tenantId: string;
  readonly mode: Mode;
  readonly channel: string;
  readonly identifier: string;
  readonly options: ConnectOptions;
  /** What is imported stays as the connect before had it, where nothing was linked yet; absent: as `options` say. */
  readonly keepsImports?: boolean;
  readonly forceNew: boolean;
  /** Where to connect through, as given; null: directly; absent: as before. */
  readonly proxy?: string | null;
  readonly accountsCap: number;
  /** The answer needs the first step: a code, a token, or what is to be asked. */
  readonly waitForStep: boolean;
  /** What an unreachable network means: the connect is undone and refused, or goes on trying. */
  readonly unreachable: 'refuse' | 'go_on';
  /** The hash of the owner's link that asks; absent: the tenant does. */
  readonly link?: string;
  /** The one record that the caller's key may link; absent: any. */
  readonly onlyAccountId?: string;
  /** Where it has begun in another process, and how long its caller waits yet, milliseconds. */
  readonly begun?: ConnectBegun & { readonly leftMs: number };
}

/** A connection as its host sees it. */
export interface SessionView {
  readonly accountId: string;
  readonly state: AccountState;
  /** When the status or its reason last changed, milliseconds since the Unix epoch. */
  readonly since: number;
  /** When the connection is tried again, or may be; null when that is open. Milliseconds since the Unix epoch. */
  readonly retryAt: number | null;
  readonly options: ConnectOptions;
  /** The network is there now. */
  readonly live: boolean;
  /** What the user has to do or see, while pairing. */
  readonly step: LinkStep | null;
  /** When the pairing times out, milliseconds since the Unix epoch; null when nothing is being paired. */
  readonly pairingEndsAt: number | null;
}

/** The answer to a request. JSON. */
export type SessionAnswer =
  | { readonly kind: 'view'; readonly view: SessionView }
  /** Another process holds the session, or is to hold it. */
  | { readonly kind: 'elsewhere'; readonly begun?: ConnectBegun }
  /** This process does not hold the session, or not any more. */
  | { readonly kind: 'not_here' }
  /** The value was refused, with the driver's sentence; the step is still open, unless it was the last try. */
  | { readonly kind: 'wrong'; readonly detail: string }
  /** No such value is awaited. */
  | { readonly kind: 'not_awaited' }
  | { readonly kind: 'done' };
