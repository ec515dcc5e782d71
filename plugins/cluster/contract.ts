/**
 * The contract of the processes of a gateway and of leases. A lease is the right of one process to a thing, such as the
 * session of an account. It names its owner, and is valid until that process's row in `lease_holders` is freed (its expiry
 * set to 0): by the process itself when it stops, or by others that have seen the row unchanged. Renewing this one row
 * renews all leases of a process, whatever locks the others.
 */
import type { Tables } from '../../core/contracts/storage.ts';
import type { SharedDeadline } from '../../core/shared-deadline.ts';

declare module '../../core/container.ts' {
  interface Cradle {
    readonly cluster: Cluster;
  }
}

/** One row of `processes`: a process with a recent heartbeat. A process without a row is dead. */
export interface ClusterProcess {
  /** The broker's `processId`. */
  readonly id: string;
  /** The name of the process, the same after every restart. */
  readonly name: string;
  readonly roles: readonly string[];
  /** Sessions that it hosts, and how many it can host. */
  readonly sessions: number;
  readonly capacity: number;
  /** Its last heartbeat, by the database's clock. */
  readonly seenAt: number;
}

/** A lease that was won: it is current while the leased row has this owner and number, expired or not. */
export interface LeaseToken {
  /** The key of the leased row. */
  readonly id: string;
  /** The broker's `processId`. */
  readonly owner: string;
  /** The fence: it grows with every change of owner. */
  readonly number: number;
}

/** A table whose rows processes lease. It has the columns `owner` and `fence`. */
export interface LeasedTable {
  readonly table: string;
  /** The column of its primary key. */
  readonly key: string;
  /** The columns of a row that some process should own; absent: every row. */
  readonly wanted?: Readonly<Record<string, number>>;
  /** The column with the moment from which a row may be claimed; absent: any time. */
  readonly due?: string;
}

/** One row of `lease_holders`: until when the leases of a process are valid, by the database's clock. */
export interface LeaseHolder {
  /** The broker's `processId`. */
  readonly id: string;
  readonly expiresAt: number;
  /** How long its leases are valid without renewal: processes may have different settings. */
  readonly leaseMs: number;
}

/** One leased row. */
export interface LeasedRow {
  readonly id: string;
  /** Whether some process should own the row. */
  readonly wanted: boolean;
  /** The process that owns or owned the row. */
  readonly owner: string | null;
  readonly fence: number;
}

/** A claim of leases. Moments are by the database's clock. */
export interface LeaseClaim {
  /** The broker's `processId`. */
  readonly owner: string;
  readonly now: number;
  readonly leaseMs: number;
  readonly limit: number;
  /** The keys of rows that are left to others; none when absent. */
  readonly except?: readonly string[];
}

/** The leases of one table: who owns its rows, and how owners change. */
export interface LeaseRows {
  find(ids: readonly string[]): Promise<readonly LeasedRow[]>;
  /**
   * Those of these tokens that are current. Every write under a lease asks this after locking the row. Expiry does not
   * count: an expired lease that no process took is still its owner's.
   */
  heldBy(leases: readonly LeaseToken[]): Promise<ReadonlySet<LeaseToken>>;
  /**
   * Locks leases until the transaction ends, and answers those that are current. Leases that another transaction
   * has locked are left out: the caller has locked tenants already and must not wait for a session.
   */
  lockFree(leases: readonly LeaseToken[]): Promise<ReadonlySet<LeaseToken>>;
  /** The leases of wanted rows that name this process as owner. */
  ownedBy(owner: string): Promise<readonly LeaseToken[]>;
  /** Whether `claim` would find something. Without a lock. */
  hasFree(owner: string, now: number): Promise<boolean>;
  /**
   * Takes up to `limit` rows without an owner, or whose owner's leases were freed; skips locked rows. Rows of freed owners
   * stay locked: none of them renews its leases meanwhile.
   */
  claim(claim: LeaseClaim): Promise<readonly LeaseToken[]>;
  /**
   * Makes a process the owner, whoever owned the rows. The caller has locked and checked the rows, and has locked a dead
   * owner by `leaseHolders.lockDead`.
   */
  take(ids: readonly string[], owner: string, expiresAt: number, leaseMs: number): Promise<void>;
  /**
   * Releases leases, so that another process can take them at once. Leases of other owners by now are left alone.
   * @param values columns to set with it
   */
  release(leases: readonly LeaseToken[], values?: Readonly<Record<string, number>>): Promise<void>;
}

/** Leases of one kind in this process: which it has, and the callbacks for their changes. */
export interface LeaseKind {
  rows(tables: Tables): LeaseRows;
  /** The leases that it believes to own, those being released included. */
  held(): readonly LeaseToken[];
  /** A lease was taken by another process, released or erased. One that this process took anew, or ended, is not lost. */
  lost(lease: LeaseToken): void;
  /** A lease was ended by another process, and no process should own it. */
  revoked?(lease: LeaseToken): void;
  /** Leases are its own in the database only, as the answer of a claim was lost: they are to be released. */
  unheld(leases: readonly LeaseToken[]): Promise<void>;
  /** The leases had run out by this process's clock, and are renewed now. */
  resumed(): void;
  /** The leases have run out, and no renewal is expected soon. */
  expired?(): void;
  /** Leases of dead processes are free now. */
  freed(): void;
  /** Sessions held and possible, for the heartbeat. */
  load?(): Pick<ClusterProcess, 'sessions' | 'capacity'>;
}

/** Whether this process may act on its leases, by its own clock. Synchronous. */
export interface ProcessLease {
  /** The local deadline, on the monotonic clock: past it no byte goes out. */
  readonly deadline: number;
  /** The same for other threads. */
  readonly shared: SharedDeadline;
  isHeld(): boolean;
}

/** The leases of one kind, for the plugin that uses them. */
export interface LeaseKeeping {
  /** Takes or releases leases. A renewal meanwhile reports none as unheld. */
  taking<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** This process among the others. In the container as `cluster`, in every process. */
export interface Cluster {
  readonly lease: ProcessLease;
  /** How long a lease is valid without renewal, milliseconds. */
  readonly leaseMs: number;
  /** Registers a kind of leases to renew. Called while booting. */
  keep(kind: LeaseKind): LeaseKeeping;
  /** Renews leases that have run out: a claimed lease is no use before. */
  renewLapsed(): Promise<void>;
}
