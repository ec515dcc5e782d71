import { createHash, randomBytes } from 'node:crypto';
import type { Storage } from '../../core/contracts/storage.ts';
import type { Secrets } from '../secrets/contract.ts';
import type { AskedCall, ReadState } from './contract.ts';

/** For how long a person may think, in milliseconds. */
export const answerMs = 600_000;

/** What a state says: which call was asked about, with which question, until when it may be answered, once. */
interface State {
  readonly keyId: string;
  readonly tool: string;
  /** SHA-256 of the canonical arguments, and of the question. */
  readonly call: string;
  readonly question: string;
  readonly expiresAt: number;
  readonly nonce: string;
  readonly key: string;
}

/** Where states are sealed: nothing else that the gateway seals passes for one. */
const context = 'confirmation';

/**
 * States of questions (`requestState`, MCP 2026-07-28, Multi Round-Trip Requests), which travel through the client: sealed,
 * so that any process reads them and nobody else makes or alters one. Whether one was used, the database knows.
 */
export class ConfirmationStates {
  readonly #secrets: Pick<Secrets, 'seal' | 'open'>;
  readonly #storage: Pick<Storage, 'now'>;

  /** @param storage its clock is that of all processes */
  constructor(secrets: Pick<Secrets, 'seal' | 'open'>, storage: Pick<Storage, 'now'>) {
    this.#secrets = secrets;
    this.#storage = storage;
  }

  /** The state of a question. @param earlier the one that came with the call, where it is asked anew */
  async seal(call: AskedCall, question: string, earlier?: Pick<ReadState, 'key'>): Promise<string> {
    const nonce = randomBytes(18).toString('base64url');
    const state: State = {
      keyId: call.keyId,
      tool: call.tool,
      call: sha256(call.arguments),
      question: sha256(question),
      expiresAt: (await this.#storage.now()) + answerMs,
      nonce,
      key: earlier?.key ?? nonce,
    };
    return this.#secrets.seal(JSON.stringify(state), context);
  }

  /** Reads a state that came back with a call; a sentence when it is not the state of a question about this very call. */
  async read(sealed: unknown, call: AskedCall): Promise<ReadState | string> {
    const state = typeof sealed === 'string' ? this.#opened(sealed) : null;
    if (state?.keyId !== call.keyId || state.tool !== call.tool) {
      return 'requestState is none that this tool gave out to this key, or it was altered: call without it to ask anew';
    }
    if (state.call !== sha256(call.arguments)) {
      return 'requestState belongs to other arguments: repeat the call unchanged, or without requestState to ask anew';
    }
    if (state.expiresAt <= (await this.#storage.now())) {
      return 'requestState has expired: call without it to ask anew';
    }
    const { nonce, key } = state;
    return { nonce, key, asks: (question) => state.question === sha256(question) };
  }

  #opened(sealed: string): State | null {
    try {
      // Sealed by `seal` above and by nobody else.
      return JSON.parse(this.#secrets.open(sealed, context)) as State;
    } catch {
      return null;
    }
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
