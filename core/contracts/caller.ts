import type { Scope } from '../scopes.ts';

/** Who makes a request: the tenant behind an API key, as far as any operation needs to know it. */
export interface Caller {
  readonly tenantId: string;
  readonly keyId: string;
  readonly mode: 'live' | 'test';
  readonly plan: string;
  readonly status: 'active' | 'suspended';
  /** Features switched off for this tenant: `api`, `webhooks`, a channel name, `event:TYPE`. */
  readonly disabled: ReadonlySet<string>;
  /** What the key may do; null: everything. */
  readonly scopes: ReadonlySet<Scope> | null;
  /** The accounts that the key may use; null: all of the tenant, those to come included. */
  readonly accountIds: ReadonlySet<string> | null;
  /** A person has to confirm each message of this key; false in calls that a person has confirmed. */
  readonly confirmSends: boolean;
  /**
   * The account that the question of a confirmed call named: a message that names none goes out from it, or not at all.
   */
  readonly confirmedAccountId?: string | undefined;
}

/** The tenant that something is done for, within the rights of a key where one is behind it. */
export type ActingCaller = Pick<Caller, 'tenantId'> &
  Partial<Pick<Caller, 'accountIds' | 'confirmSends' | 'confirmedAccountId'>>;

/** Finds the caller of a key. Registered in the container as `authenticator` by the tenants plugin. */
export interface Authenticator {
  /**
   * The caller of this key, or null for a wrong, revoked or expired one. Answers may be up to 2 s old.
   * @throws GatewayError `unavailable` when the database cannot be asked
   */
  authenticate(key: string): Promise<Caller | null>;
  /**
   * A caller that acts for a tenant without one of its keys; null when there is no such tenant.
   * @param name its `keyId`, by which limits count and logs name the caller
   * @throws GatewayError `unavailable`
   */
  forTenant(tenantId: string, name: string): Promise<Caller | null>;
  /** Whether the key is still good, at most 1 s old; asked again and again by what stays open long. */
  isCurrent(keyId: string): Promise<boolean>;
  /**
   * Nothing that is remembered of this key is answered any more, as it was revoked here.
   * @throws GatewayError `unavailable`
   */
  forget(keyId: string): Promise<void>;
}

declare module '../container.ts' {
  interface Cradle {
    readonly authenticator: Authenticator;
  }
}
