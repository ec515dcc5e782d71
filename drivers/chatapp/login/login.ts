import type { tl } from '@mtcute/core';
import type {
  AnswerOutcome,
  Cause,
  LinkStep,
  RefusedReason,
} from '../../../core/contracts/driver.ts';
import type { Client } from '../client.ts';
import type { ChatappOptions } from '../options.ts';

/** Dependencies of a login. */
export interface LoginParts {
  readonly client: Client;
  readonly options: ChatappOptions;
  /** E.164. */
  readonly phone: string;
  /** Shows the user the next step. */
  step(step: LinkStep): Promise<void>;
  /**
   * Called when the network let the user in; resolves once the account is connected, or the attempt has ended
   * otherwise.
   */
  loggedIn(user: tl.TypeUser): Promise<void>;
}

/** A login code that the network has sent, and how far the user got with it. */
export interface SentCode {
  readonly phoneCodeHash: string;
  /** `password`: the code was accepted. */
  readonly awaits: 'code' | 'password';
  /** The e-mail address that it went to, as the network shows it; null: the owner reads it in the network's app. */
  readonly viaEmail: string | null;
}

/** One way to log an account in. What its methods throw is the end of the attempt. */
export interface Login {
  /** Valid over later connections with the same session key; null: no code was sent, or the last one has expired. */
  readonly sent: SentCode | null;
  /** Resolves once the first step was shown. */
  begin(): Promise<void>;
  /** Hands a value in for the open step. It is not accepted when no such value is awaited. */
  answer(field: 'code' | 'password', value: string): Promise<AnswerOutcome>;
  /** Takes what the network pushed meanwhile. */
  pushed(push: tl.TypeUpdates): void;
}

/** The network refused the login, for a reason that the user reads. */
export class LoginRefused extends Error implements Cause<RefusedReason> {
  readonly reason: RefusedReason;
  readonly detail: string;

  constructor({ reason, detail }: Cause<RefusedReason>) {
    super(reason);
    this.reason = reason;
    this.detail = detail;
  }
}

/** A value was handed in that the open step does not ask for. */
export function notAwaited(field: 'code' | 'password', awaited: string): AnswerOutcome {
  return { accepted: false, detail: `No ${field} is awaited: ${awaited}.` };
}
