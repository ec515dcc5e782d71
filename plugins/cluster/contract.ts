/**
 * What other plugins may know of the processes of a gateway, and of leases: the right of one process to a thing, such as
 * the session of an account. A lease names its owner, and is valid as long as that process's row in `lease_holders` has
 * not expired by the database's clock: one row is renewed for all that a process holds, whatever locks the rest.
 */
import type { Tables } from '../../core/contracts/storage.ts';

declare module '../../core/container.ts' {
  interface Cradle {
    readonly cluster: Cluster;
  }
}

/** One row of `processes`: a process that was heard of lately. One that is missing is dead. */
export interface ClusterProcess {
  /** The broker's `processId`. */
  readonly id: string;
  /** What the process is called in every life of it. */
  readonly name: string;
  readonly roles: readonly string[];
  /** Sessions it holds, and how many it can hold. */
  readonly sessions: number;
  readonly capacity: number;
  /** Its last heartbeat, by the database's clock. */
  readonly seenAt: number;
}

/** A lease that was won: it stays its owner's while the leased row has this owner and number, expired or not. */
export interface LeaseToken {
  /** The key of the leased row. */
  readonly id: string;
  /** The broker's `processId`. */
  readonly owner: string;
  /** Grows with every change of hands. */
  readonly number: number;
}

/** A table whose rows processes lease. It has the columns `owner` and `fence`. */
export interface LeasedTable {
  readonly table: string;
  /** The column of its primary key. */
  readonly key: string;
  /** What a row is like that some process should hold; absent: each. */
  readonly wanted?: Readonly<Record<string, number>>;
  /** The column with the moment from which a row may be claimed; absent: always. */
  readonly due?: string;
}

/** One leased row. */
export interface LeasedRow {
  readonly id: string;
  /** Some process should hold it. */
  readonly wanted: boolean;
  /** The process that holds or held it. */
  readonly owner: string | null;
  readonly fence: number;
}

/** A claim of leases. Moments are by the database's clock. */
export interface LeaseClaim {
  /** The broker's `processId`. */
  readonly owner: string;
  readonly now: number;
  readonly expiresAt: number;
  readonly limit: number;
}

/** The leases of one table: who holds its rows, and how they change hands. */
export interface LeaseRows {
  find(ids: readonly string[]): Promise<readonly LeasedRow[]>;
  /**
   * The ids of those leases that are still their owner's. Every write under a lease asks it after having locked the
   * row. Expiry does not count: an expired lease that nobody took is still the owner's.
   */
  heldBy(leases: readonly LeaseToken[]): Promise<ReadonlySet<string>>;
  /**
   * The same of leases that the caller has not locked: they are, until the transaction ends. Those that somebody else has
   * locked are left out, as it holds tenants already and must not wait for a session.
   */
  lockFree(leases: readonly LeaseToken[]): Promise<ReadonlySet<string>>;
  /** The wanted rows that name this process as owner. */
  ownedBy(owner: string): Promise<readonly LeasedRow[]>;
  /** Whether `claim` would find something. Without a lock. */
  hasFree(owner: string, now: number): Promise<boolean>;
  /**
   * Takes up to `limit` rows that nobody owns or whose owner's time has run out; leaves alone what somebody locks. The
   * rows of such owners stay locked: none of them renews its leases while they are taken.
   */
  claim(claim: LeaseClaim): Promise<readonly LeaseToken[]>;
  /**
   * Makes a process the owner, whoever was it before. The caller has locked and checked the rows, and has locked a dead
   * owner by `leaseHolders.lockDead`.
   */
  take(ids: readonly string[], owner: string, expiresAt: number): Promise<void>;
  /**
   * Gives leases up, so that another process can take them at once. Those that are others' by now are left alone.
   * @param values what the rows take with it
   */
  release(leases: readonly LeaseToken[], values?: Readonly<Record<string, number>>): Promise<void>;
}

/** Leases of one kind in this process: what it holds, and what is done as they come and go. */
export interface LeaseKind {
  rows(tables: Tables): LeaseRows;
  /** What it believes to hold, that which is just being given away included. */
  held(): readonly LeaseToken[];
  /** Taken by another process, given away or erased. One that this process has taken anew is not lost. */
  lost(lease: LeaseToken): void;
  /** Ended by somebody else, and nobody is to hold it. */
  revoked?(lease: LeaseToken): void;
  /** Its own in the database, though not held, as the answer of a claim was lost: they are to be given away. */
  unheld(leases: readonly LeaseToken[]): Promise<void>;
  /** The leases had run out by this process's clock, and are renewed now. */
  resumed(): void;
  /** They have run out, and a renewal is not to be expected in a moment. */
  expired?(): void;
  /** Leases of dead processes are free now. */
  freed(): void;
  /** Sessions held and possible, for the heartbeat. */
  load?(): Pick<ClusterProcess, 'sessions' | 'capacity'>;
}

/** How long this process may act on its leases, by its own clock. Synchronous. */
export interface ProcessLease {
  /** On the monotonic clock; past it no byte goes out. */
  readonly deadline: number;
  isHeld(): boolean;
}

/** The leases of one kind, for the one that holds them. */
export interface LeaseKeeping {
  /** Takes or gives up leases. A renewal in between reports none as unheld. */
  taking<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** This process among the others. In the container as `cluster`, in every process. */
export interface Cluster {
  readonly lease: ProcessLease;
  /** How long a lease is valid without renewal, milliseconds. */
  readonly leaseMs: number;
  /** Has leases renewed. Called while booting. */
  keep(kind: LeaseKind): LeaseKeeping;
  /** Renews at once what has run out: a claimed lease is no use before. */
  renewLapsed(): Promise<void>;
}
