import type { tl } from '@mtcute/core';
import type { AnswerOutcome, LinkStep } from '../../../core/contracts/driver.ts';
import { isRpcErrorNamed } from '../rpc-errors.ts';
import { letIn } from './authorization.ts';
import { type Login, type LoginParts, LoginRefused, notAwaited, type SentCode } from './login.ts';
import { submitPassword, wantsPassword } from './password.ts';

/** How much of the network's text for an e-mail address is shown. */
const shownLength = 64;
/** The network's names of a wrong code and of an expired one, wherever it went. */
const invalid = ['PHONE_CODE_INVALID', 'PHONE_CODE_EMPTY', 'CODE_INVALID'];
const expired = ['PHONE_CODE_EXPIRED', 'EMAIL_VERIFY_EXPIRED'];
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
    if (sent !== null) await step(questionOf(sent));
  }

  async answer(field: 'code' | 'password', value: string): Promise<AnswerOutcome> {
    const sent = this.#sent ?? { awaits: 'code', phoneCodeHash: '', viaEmail: null };
    const { awaits } = sent;
    if (field !== awaits) return notAwaited(field, `hand in the ${awaits}`);
    if (field === 'password') return await submitPassword(this.#parts, value);
    return await this.#code(sent, value);
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
    const { type, phoneCodeHash } = sent;
    const viaEmail = type._ === 'auth.sentCodeTypeEmailCode' ? type.emailPattern : null;
    this.#sent = { phoneCodeHash, awaits: 'code', viaEmail };
    return this.#sent;
  }

  async #code(sent: SentCode, code: string): Promise<AnswerOutcome> {
    const { client, phone, step, loggedIn } = this.#parts;
    try {
      const request = { phoneNumber: digits(phone), phoneCodeHash: sent.phoneCodeHash };
      const proof =
        sent.viaEmail === null
          ? { phoneCode: code }
          : { emailVerification: { _: 'emailVerificationCode', code } as const };
      const authorization = await client.call({ _: 'auth.signIn', ...request, ...proof });
      await loggedIn(await letIn(client, authorization));
      return { accepted: true };
    } catch (error) {
      if (isRpcErrorNamed(error, ...invalid)) return wrongCode(sent);
      if (isRpcErrorNamed(error, ...expired)) return await this.#anotherCode();
      if (!wantsPassword(error)) throw error;
      this.#sent = { ...sent, awaits: 'password' };
      await step(questionOf(this.#sent));
      return { accepted: true };
    }
  }

  /** Protocol: an expired code takes its hash with it, so that only a new code can be handed in. */
  async #anotherCode(): Promise<AnswerOutcome> {
    const sent = await this.#askForCode();
    if (sent === null) return { accepted: true };
    // The new code may go another way.
    await this.#parts.step(questionOf(sent));
    return expiredCode;
  }
}

function questionOf({ awaits, viaEmail }: SentCode): LinkStep {
  const question = { type: 'ask', field: awaits } as const;
  if (awaits !== 'code' || viaEmail === null) return question;
  return { ...question, label: `Login code, sent to ${viaEmail.slice(0, shownLength)}` };
}

function wrongCode({ viaEmail }: SentCode): AnswerOutcome {
  const where = viaEmail === null ? "in the network's own app" : "in the network's e-mail";
  const detail = `The code is not the right one: read it ${where}, and hand it in again.`;
  return { accepted: false, detail };
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
