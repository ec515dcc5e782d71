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
  /** Of the call, which is done once under it: the same in every state of the questions that one call led to. */
  readonly key: string;
  /** Whether the person was asked this. */
  asks(question: string): boolean;
}

/** States of questions. In the container as `confirmations`. */
export interface Confirmations {
  /**
   * The state of a question, to travel through the program: sealed, good for ten minutes.
   * @param earlier the state that came with the call, where it is asked anew
   * @throws GatewayError `unavailable`
   */
  seal(call: AskedCall, question: string, earlier?: ReadState): Promise<string>;
  /**
   * Reads a state that came back with a call; a sentence when it is not the state of a question about this very call.
   * @throws GatewayError `unavailable`
   */
  read(sealed: unknown, call: AskedCall): Promise<ReadState | string>;
  /**
   * Uses the answer that came with a state: true for the first call in any process that comes with it, and for those
   * that repeat it.
   * @param answer what a repeat has to bring again; without it no call is a repeat
   * @throws GatewayError `unavailable`
   */
  use(state: ReadState, answer?: 'accept' | 'decline'): Promise<boolean>;
}

declare module '../../core/container.ts' {
  interface Cradle {
    readonly confirmations: Confirmations;
  }
}
