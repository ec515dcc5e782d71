/** The contract of tenants: their records, their plans and the keys that name them. */
import type { Authenticator } from '../../core/contracts/caller.ts';
import type { Scope } from '../../core/scopes.ts';
import type { TenantCounts } from '../erasure/contract.ts';

/** Live tenants use the networks; a test tenant's channels run on the simulated one. */
export type TenantMode = 'live' | 'test';

/**
 * A suspended tenant is refused on send, and on nothing else. A deleted one is there for nobody: its keys are revoked, and
 * what it had is being erased.
 */
export type TenantStatus = 'active' | 'suspended' | 'deleted';

/** One row of `tenants`. Times are milliseconds since the Unix epoch. */
export interface Tenant {
  /** `ten_…` */
  readonly id: string;
  readonly name: string;
  readonly mode: TenantMode;
  /** The plan's name. */
  readonly plan: string;
  readonly status: TenantStatus;
  /** Features switched off: `api`, `webhooks`, a channel's name, `event:TYPE`. */
  readonly disabled: readonly string[];
  /** Made with the warm-up ramp although its mode has none. */
  readonly ramp: boolean;
  readonly createdAt: number;
}

/** One row of `tenants` as the database holds it, for who joins it to rows of its own. */
export interface TenantRow {
  readonly id: string;
  readonly name: string;
  readonly mode: TenantMode;
  readonly plan: string;
  readonly status: TenantStatus;
  readonly disabled: string;
  readonly ramp: number;
  readonly created_at: number;
}

/** Settings of a new key. */
export interface KeySettings {
  readonly name: string | null;
  /** What it may do; null: everything. */
  readonly scopes: readonly Scope[] | null;
  /** The accounts that it may use; null: all. */
  readonly accountIds: readonly string[] | null;
  /** When it ends; null: never. */
  readonly expiresAt: number | null;
  /** A person has to confirm each message that it sends. */
  readonly confirmSends: boolean;
}

/** One row of `api_keys`, without the hash. */
export interface ApiKey extends KeySettings {
  /** `key_…` */
  readonly id: string;
  readonly tenantId: string;
  /** Its beginning and its end, so that a person can tell keys apart. */
  readonly hint: string;
  readonly createdAt: number;
  /** Exact to a minute; null: not yet. */
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
}

/** A key just made; the only moment at which it can be read. */
export interface NewKey {
  readonly id: string;
  readonly key: string;
}

/** The caps and features of a plan, by the field names of the configuration. */
export interface Plan {
  /** Messages accepted per UTC day. */
  readonly sends_cap: number;
  /** New contacts per UTC day. */
  readonly new_contacts_cap: number;
  readonly accounts_cap: number;
  /** Whether accounts can be connected at all. */
  readonly channels: boolean;
  readonly webhooks: boolean;
  /** Length of a new account's warm-up ramp in days; 0 for none. */
  readonly ramp_days: number;
}

/** The plans of the configuration. In the container as `plans`. */
export interface Plans {
  /** The plan with this name. One that the configuration no longer has allows nothing. */
  plan(name: string): Plan;
  /** The names that the configuration has. */
  names(): readonly string[];
}

/** A tenant to be made. */
export interface TenantRequest {
  readonly name: string;
  readonly mode: TenantMode;
  readonly plan: string;
  readonly ramp: boolean;
}

/** A change asked for by an operator. */
export interface TenantUpdate {
  readonly plan?: string;
  readonly status?: Exclude<TenantStatus, 'deleted'>;
  readonly enable: readonly string[];
  readonly disable: readonly string[];
}

/**
 * The keys that the first start generated, to be shown once; null for a mode whose key was preset or is there already.
 */
export interface FirstKeys {
  readonly live: string | null;
  readonly test: string | null;
}

/** Management of tenants and keys: the command line's side. In the container as `tenants`. */
export interface Tenants {
  /** @throws GatewayError `invalid_request` for an unknown plan or an empty name */
  create(request: TenantRequest): Promise<{ readonly tenant: Tenant; readonly key: NewKey }>;
  /** All of them, oldest first; a deleted one until nothing is left of it. */
  list(): Promise<readonly Tenant[]>;
  /**
   * Null when there is no such tenant.
   * @throws GatewayError `invalid_request` for an unknown plan or feature
   */
  update(id: string, update: TenantUpdate): Promise<Tenant | null>;
  /**
   * Deletes a tenant: its keys are revoked and its features off once this has resolved, and running gateways erase what it
   * had. A repeated call changes nothing.
   * @returns the tenant as it was; null when there is none
   */
  delete(id: string): Promise<Tenant | null>;
  /** How much a tenant has. Null when there is no such tenant. */
  counts(id: string): Promise<TenantCounts | null>;
  /** The features that are on, in the order of `featureNames`. */
  features(tenant: Tenant): readonly string[];
  /**
   * Null when there is no such tenant.
   * @param settings absent: without a name, for everything and for ever
   * @param makerId the key that makes it; absent: an operator does
   * @throws GatewayError `key_cap`, `account_not_found`, and `unauthorized` when the maker was revoked or has expired
   */
  createKey(tenantId: string, settings?: KeySettings, makerId?: string): Promise<NewKey | null>;
  /** A tenant's keys, oldest first; null when there is no such tenant. */
  listKeys(tenantId: string): Promise<readonly ApiKey[] | null>;
  /**
   * Null when there is no such key; a repeated call changes nothing.
   * @param tenantId the only tenant whose keys it knows; absent: all
   */
  revokeKey(keyId: string, tenantId?: string): Promise<ApiKey | null>;
  /**
   * Makes the first live and test tenant where they are missing, and lets the preset keys in. However many
   * processes start at once, one pair is made. Called at every start that serves.
   * @returns the keys that this very call generated, never preset ones
   */
  begin(presets: FirstKeys): Promise<FirstKeys>;
}

declare module '../../core/container.ts' {
  interface Cradle {
    readonly tenants: Tenants;
    readonly plans: Plans;
    readonly authenticator: Authenticator;
    /** The keys that this start generated and nobody has seen yet; `serve` prints them. */
    readonly firstKeys: FirstKeys;
  }
}
