import { User } from '@mtcute/core';
import { sendCode, signIn } from '@mtcute/core/methods.js';
import { isRefusal } from '../verdict.ts';
import { type Login, type LoginParts, LoginRefused } from './login.ts';
import { submitPassword, wantsPassword } from './password.ts';

/** Logs in by a code that the network sends to the owner, and the second factor where there is one. */
export class CodeLogin implements Login {
  readonly #parts: LoginParts;
  #phoneCodeHash: string | null = null;
  #awaits: 'code' | 'password' | null = null;

  constructor(parts: LoginParts) {
    this.#parts = parts;
  }

  async begin(): Promise<void> {
    const { wire, phone, step, loggedIn } = this.#parts;
    const sent = await wire.run((client, abortSignal) => sendCode(client, { phone, abortSignal }));
    if (sent instanceof User) return await loggedIn(sent.raw);
    this.#phoneCodeHash = sent.phoneCodeHash;
    this.#awaits = 'code';
    await step({ type: 'ask', field: 'code' });
  }

  async answer(field: 'code' | 'password', value: string): Promise<'accepted' | 'wrong'> {
    if (field !== this.#awaits) return 'wrong';
    if (field === 'password') return await submitPassword(this.#parts, value);
    return await this.#code(value);
  }

  pushed(): void {
    // Nothing that is pushed before the login is of interest to it.
  }

  async #code(phoneCode: string): Promise<'accepted' | 'wrong'> {
    const { wire, phone, step, loggedIn } = this.#parts;
    const phoneCodeHash = this.#phoneCodeHash ?? '';
    try {
      const user = await wire.run((client, abortSignal) =>
        signIn(client, { phone, phoneCodeHash, phoneCode, abortSignal }),
      );
      await loggedIn(user.raw);
      return 'accepted';
    } catch (error) {
      if (isRefusal(error, 'PHONE_CODE_INVALID', 'PHONE_CODE_EMPTY')) return 'wrong';
      if (isRefusal(error, 'PHONE_CODE_EXPIRED')) {
        throw new LoginRefused('the login code is no longer valid');
      }
      if (!wantsPassword(error)) throw error;
      this.#awaits = 'password';
      await step({ type: 'ask', field: 'password' });
      return 'accepted';
    }
  }
}
