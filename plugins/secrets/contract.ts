import type { Json } from '../../core/contracts/json.ts';

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
  /** Whether it was sealed under another than the current key, so that it should be sealed again. */
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

declare module '../../core/container.ts' {
  interface Cradle {
    readonly secrets: Secrets;
    readonly cursors: Cursors;
  }
}
