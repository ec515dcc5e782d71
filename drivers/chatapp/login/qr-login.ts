import type { tl } from '@mtcute/core';
import type { AnswerOutcome } from '../../../core/contracts/driver.ts';
import { isRpcErrorNamed } from '../rpc-errors.ts';
import { letIn } from './authorization.ts';
import { type Login, type LoginParts, notAwaited } from './login.ts';
import { submitPassword, wantsPassword } from './password.ts';

/** How many tokens are shown one after the other, about half a minute each, before the user must start over. */
const mostTokens = 10;

/** The shortest and the longest time until a token is asked for again, in milliseconds. */
const leastMs = 1_000;
const mostMs = 30_000;

/** Logs in by a QR code that the owner scans with the network's app, and the second factor where there is one. */
export class QrLogin implements Login {
  readonly sent = null;
  readonly #parts: LoginParts;
  readonly #failed: (error: unknown) => void;
  #awaitsPassword = false;
  /** The token that is shown, and until when. */
  #shown: { readonly text: string; readonly until: number } | null = null;
  #tokens = 0;
  #timer: NodeJS.Timeout | undefined;
  #turn: Promise<void> = Promise.resolve();
  #over = false;

  /** @param failed called with what ends the attempt after `begin` */
  constructor(parts: LoginParts, failed: (error: unknown) => void) {
    this.#parts = parts;
    this.#failed = failed;
    parts.client.signal.addEventListener('abort', () => clearTimeout(this.#timer));
  }

  async begin(): Promise<void> {
    this.#turn = this.#poll();
    await this.#turn;
  }

  async answer(field: 'code' | 'password', value: string): Promise<AnswerOutcome> {
    if (!this.#awaitsPassword) return notAwaited(field, 'scan the QR code first');
    if (field !== 'password') return notAwaited(field, 'hand in the password');
    return await submitPassword(this.#parts, value);
  }

  pushed(push: tl.TypeUpdates): void {
    if (push._ === 'updateShort' && push.update._ === 'updateLoginToken') this.#pollAgain();
  }

  /** Polls after a scan or an expired code, one poll at a time. */
  #pollAgain(): void {
    clearTimeout(this.#timer);
    this.#turn = this.#turn
      .then(() => this.#poll())
      .catch((error: unknown) => {
        this.#over = true;
        this.#failed(error);
      });
  }

  async #poll(): Promise<void> {
    if (this.#over || this.#parts.client.signal.aborted) return;
    const { client, options, step } = this.#parts;
    try {
      const answer = await client.call({
        _: 'auth.exportLoginToken',
        apiId: options.apiId,
        apiHash: options.apiHash,
        exceptIds: [],
      });
      await this.#take(answer);
    } catch (error) {
      if (isRpcErrorNamed(error, 'AUTH_TOKEN_EXPIRED')) return await this.#expire();
      if (!wantsPassword(error)) throw error;
      this.#over = true;
      this.#awaitsPassword = true;
      await step({ type: 'ask', field: 'password' });
    }
  }

  async #take(answer: tl.auth.TypeLoginToken): Promise<void> {
    switch (answer._) {
      case 'auth.loginToken':
        return await this.#show(answer);
      case 'auth.loginTokenMigrateTo':
        return await this.#migrate(answer);
      case 'auth.loginTokenSuccess':
        return await this.#finish(answer.authorization);
    }
  }

  async #show({ token, expires }: tl.auth.RawLoginToken): Promise<void> {
    const text = Buffer.from(token).toString('base64url');
    const now = Date.now();
    // The end is by the network's clock: out of these bounds one of the two clocks is off.
    const again = Math.min(Math.max(expires * 1000 - now, leastMs), mostMs);
    this.#timer = setTimeout(() => this.#pollAgain(), again);
    const shown = this.#shown?.text === text ? this.#shown : null;
    if (shown !== null && now < shown.until) return;
    if (shown === null) this.#tokens += 1;
    if (this.#tokens > mostTokens) return await this.#expire();
    const expiresAt = now + again;
    this.#shown = { text, until: expiresAt };
    const data = `tg://login?token=${text}`;
    await this.#parts.step({ type: 'show_qr', data, token: text, expiresAt });
  }

  async #expire(): Promise<void> {
    clearTimeout(this.#timer);
    this.#over = true;
    await this.#parts.step({ type: 'expired' });
  }

  /** The owner's account lives in another data center. */
  async #migrate({ dcId, token }: tl.auth.RawLoginTokenMigrateTo): Promise<void> {
    const { client } = this.#parts;
    await client.run((library) => library.changePrimaryDc(dcId));
    await this.#take(await client.call({ _: 'auth.importLoginToken', token }));
  }

  async #finish(authorization: tl.auth.TypeAuthorization): Promise<void> {
    this.#over = true;
    const { client, loggedIn } = this.#parts;
    await loggedIn(await letIn(client, authorization));
  }
}
