import type { tl } from '@mtcute/core';
import type { AnswerOutcome } from '../../../core/contracts/driver.ts';
import { isRpcErrorNamed } from '../rpc-errors.ts';
import { letIn } from './authorization.ts';
import { type Login, type LoginParts, LoginRefused, notAwaited, type SentCode } from './login.ts';
import { submitPassword, wantsPassword } from './password.ts';

const wrongCode: AnswerOutcome = {
  accepted: false,
  detail: "The code is not the right one: read it in the network's own app, and hand it in again.",
};
const expiredCode: AnswerOutcome = {
  accepted: false,
  detail: 'The code has expired: the network has sent a new one, hand that one in.',
};

/** Logs in by a code that the network sends to the owner, and the second factor where there is one. */
export class CodeLogin implements Login {
  readonly #parts: LoginParts;
  #sent: SentCode | null;

  /** @param sent of a login that a break cut short, which this one goes on with; null: it begins anew */
  constructor(parts: LoginParts, sent: SentCode | null) {
    this.#parts = parts;
    this.#sent = sent;
  }

  get sent(): SentCode | null {
    return this.#sent;
  }

  async begin(): Promise<void> {
    const { client, step } = this.#parts;
    // Connects, and asks for nothing else: another code would take the place of the one in hand.
    if (this.#sent !== null) await client.call({ _: 'help.getConfig' });
    const sent = this.#sent ?? (await this.#askForCode());
    if (sent !== null) await step({ type: 'ask', field: sent.awaits });
  }

  async answer(field: 'code' | 'password', value: string): Promise<AnswerOutcome> {
    const { awaits, phoneCodeHash } = this.#sent ?? { awaits: 'code', phoneCodeHash: '' };
    if (field !== awaits) return notAwaited(field, `hand in the ${awaits}`);
    if (field === 'password') return await submitPassword(this.#parts, value);
    return await this.#code(phoneCodeHash, value);
  }

  pushed(): void {
    // Nothing that is pushed before the login is of interest to it.
  }

  /** Has the network send a code to the owner. Null: none is needed. */
  async #askForCode(): Promise<SentCode | null> {
    this.#sent = null;
    const { client, options, phone, loggedIn } = this.#parts;
    const sent = await client.call({
      _: 'auth.sendCode',
      phoneNumber: digits(phone),
      apiId: options.apiId,
      apiHash: options.apiHash,
      settings: { _: 'codeSettings' },
    });
    if (sent._ === 'auth.sentCodeSuccess') {
      await loggedIn(await letIn(client, sent.authorization));
      return null;
    }
    refuseWithoutCode(sent);
    this.#sent = { phoneCodeHash: sent.phoneCodeHash, awaits: 'code' };
    return this.#sent;
  }

  async #code(phoneCodeHash: string, phoneCode: string): Promise<AnswerOutcome> {
    const { client, phone, step, loggedIn } = this.#parts;
    try {
      const request = { phoneNumber: digits(phone), phoneCodeHash, phoneCode };
      const authorization = await client.call({ _: 'auth.signIn', ...request });
      await loggedIn(await letIn(client, authorization));
      return { accepted: true };
    } catch (error) {
      if (isRpcErrorNamed(error, 'PHONE_CODE_INVALID', 'PHONE_CODE_EMPTY')) return wrongCode;
      if (isRpcErrorNamed(error, 'PHONE_CODE_EXPIRED')) return await this.#anotherCode();
      if (!wantsPassword(error)) throw error;
      this.#sent = { phoneCodeHash, awaits: 'password' };
      await step({ type: 'ask', field: 'password' });
      return { accepted: true };
    }
  }

  /** Protocol: an expired code takes its hash with it, so that only a new code can be handed in. */
  async #anotherCode(): Promise<AnswerOutcome> {
    return (await this.#askForCode()) === null ? { accepted: true } : expiredCode;
  }
}

function digits(phone: string): string {
  return phone.replace(/\D/g, '');
}

/** @throws LoginRefused when the network wants something else before it sends a code */
function refuseWithoutCode(
  sent: tl.auth.RawSentCode | tl.auth.RawSentCodePaymentRequired,
): asserts sent is tl.auth.RawSentCode {
  if (sent._ === 'auth.sentCodePaymentRequired') throw wants('a payment');
  if (sent.type._ === 'auth.sentCodeTypeSetUpEmailRequired') throw wants('an e-mail address');
}

function wants(what: string): LoginRefused {
  return new LoginRefused({
    reason: 'login_refused',
    detail: `The network wants ${what} before it sends a code: log in with the network's own app first, then connect again.`,
  });
}
