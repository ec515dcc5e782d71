/** The record of who changed what. */

/** One change. Its texts, numbers and secrets are nowhere in it. */
export interface AuditEntry {
  /** Null for what concerns no tenant. */
  readonly tenantId: string | null;
  /** The key's id, or `command line`. */
  readonly actor: string;
  /** The operation's id, or the words of the command. */
  readonly operation: string;
  /** The id of what was changed; null where nothing has one. */
  readonly target: string | null;
  /** Null for the command line. */
  readonly requestId: string | null;
}

/** An entry as it is stored. */
export interface AuditRecord extends AuditEntry {
  readonly id: string;
  readonly at: number;
}

/** In the container as `audit`. */
export interface Audit {
  /**
   * Stores an entry; called before a change is answered as done.
   * @throws GatewayError `unavailable`
   */
  record(entry: AuditEntry): Promise<void>;
  /** The latest entries, newest first. @param tenantId null: of all tenants */
  list(tenantId: string | null, limit: number): Promise<readonly AuditRecord[]>;
}

declare module '../../core/container.ts' {
  interface Cradle {
    readonly audit: Audit;
  }
}
