/** The record of who changed what. */

/** What a change concerns. */
export interface AuditedChange {
  /** Null for what concerns no tenant. */
  readonly tenantId: string | null;
  /** The id of what is changed; null where nothing has one. */
  readonly target: string | null;
}

/** One change, as far as it is known before it is made. Its texts, numbers and secrets are nowhere in it. */
export interface AuditEntry extends AuditedChange {
  /** The key's id, `link:` and the account's id for an owner's link, `command line`, or `configuration`. */
  readonly actor: string;
  /** The operation's id, or the words of the command. */
  readonly operation: string;
  /** Null for the command line and the configuration. */
  readonly requestId: string | null;
}

/** An entry as it is stored. */
export interface AuditRecord extends AuditEntry {
  readonly id: string;
  /** When the change began. */
  readonly at: number;
  /** `unknown`: it is under way, or was cut off or failed in a way that leaves open what was changed. */
  readonly outcome: 'done' | 'unknown';
}

/** In the container as `audit`. */
export interface Audit {
  /**
   * Makes a change that leaves an entry, stored before it is made: what was changed is never without one. The answer of a
   * change that was made is given, whatever becomes of its entry.
   * @param changedBy what a result changed; null: nothing, which leaves no entry
   * @throws GatewayError `unavailable` before anything was changed, or whatever the change throws
   */
  recording<Result>(
    entry: AuditEntry,
    change: () => Promise<Result>,
    changedBy: (result: Result) => AuditedChange | null,
  ): Promise<Result>;
  /** The latest entries, newest first. @param tenantId null: of all tenants */
  list(tenantId: string | null, limit: number): Promise<readonly AuditRecord[]>;
}

declare module '../../core/container.ts' {
  interface Cradle {
    readonly audit: Audit;
  }
}
