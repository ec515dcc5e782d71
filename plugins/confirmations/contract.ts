/** Questions to a person about what a program wants to do, whose answers come back through that program. */

/** The call that a person is asked about. */
export interface AskedCall {
  readonly keyId: string;
  readonly tool: string;
  /** As canonical JSON, as they came: what fills in defaults later changes the call itself. */
  readonly arguments: string;
}

/** A state that came back unaltered, in time, with the call that it was made for. */
export interface ReadState {
  readonly nonce: string;
  /** Whether the person was asked this. */
  asks(question: string): boolean;
}

/** States of questions. In the container as `confirmations`. */
export interface Confirmations {
  /** The state of a question, to travel through the program: sealed, good for ten minutes. */
  seal(call: AskedCall, question: string): string;
  /** Reads a state that came back with a call; a sentence when it is not the state of a question about this very call. */
  read(sealed: unknown, call: AskedCall): ReadState | string;
  /**
   * Uses the answer that came with a state: true for the first call in any process that comes with it.
   * @throws GatewayError `unavailable`
   */
  use(state: ReadState): Promise<boolean>;
}

declare module '../../core/container.ts' {
  interface Cradle {
    readonly confirmations: Confirmations;
  }
}
