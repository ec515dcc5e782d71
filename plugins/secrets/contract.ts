import type { Json } from '../../core/contracts/json.ts';
import type { Lock, Tables, Unit } from '../../core/contracts/storage.ts';

/** Seals what is stored and derives the keys of what is signed. In the container as `secrets`. */
export interface Secrets {
  /**
   * Encrypts a text for the database with the current key, so that a change of it shows.
   * @param context where it is stored, for example `credential:acc_…:session`; the same is needed to open it
   * @returns `v1.KEY_ID.NONCE.CIPHERTEXT`, in base64url
   */
  seal(plain: string, context: string): string;
  /**
   * Decrypts what `seal` made under the current or a previous key.
   * @throws Error when it was changed, stood in another context, or its key is not configured
   */
  open(sealed: string, context: string): string;
  /**
   * Whether it was sealed under another than the current key, so that it should be sealed again.
   * @throws Error when it is no sealed value
   */
  isStale(sealed: string): boolean;
  /** Keys of 32 bytes for one purpose, such as `cursor`: the current one to sign with, then the previous. */
  derive(purpose: string): readonly Buffer[];
}

/** Positions in lists that are given out and come back unchanged. In the container as `cursors`. */
export interface Cursors {
  /** A text for the client, of letters, digits, `-` and `_`, good for this operation and tenant only. */
  issue(operation: string, tenantId: string, position: Json): string;
  /**
   * The position of a cursor that `issue` made.
   * @param field the query parameter it came in, named in the refusal
   * @throws GatewayError `invalid_cursor` for anything else
   */
  read(operation: string, tenantId: string, cursor: string, field?: string): Json;
}

/** One sealed value of the database. */
export interface SealedValue {
  /** Position of the value, in the order in which `SealedSource.page` goes through values. */
  readonly position: readonly string[];
  /** See `Secrets.seal`. */
  readonly context: string;
  readonly sealed: string;
  /** The row under whose lock it is written. */
  readonly lock: Lock;
}

/** A sealed value and its replacement. */
export interface Resealing {
  readonly value: SealedValue;
  readonly sealed: string;
}

/** A noun's sealed values, for `secrets reseal`. */
export interface SealedSource {
  /** What they are, in the plural: `signing secrets`. */
  readonly name: string;
  /** At most so many of them, after the one that was the last of the page before. */
  page(read: Tables, after: SealedValue | null, limit: number): Promise<readonly SealedValue[]>;
  /** Replaces those that are still what they were. */
  replace(unit: Unit, changes: readonly Resealing[]): Promise<void>;
}

/** What `secrets reseal` did. */
export interface Resealed {
  /** How many values were sealed anew, by the name of their source. */
  readonly resealed: Readonly<Record<string, number>>;
  /** How many open under no secret that is configured; they stay as they are. */
  readonly unreadable: number;
}

declare module '../../core/container.ts' {
  interface Cradle {
    readonly secrets: Secrets;
    readonly cursors: Cursors;
    /**
     * Seals everything anew that is sealed with the previous secret; repeatable, also after it was killed. In the command
     * line alone.
     * @throws GatewayError `unavailable`; StartRefusal when a process goes on sealing with the previous secret
     */
    readonly reseal: () => Promise<Resealed>;
  }
}
