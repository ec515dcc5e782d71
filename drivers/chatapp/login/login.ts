import type { tl } from '@mtcute/core';
import type { LinkStep } from '../../../core/contracts/driver.ts';
import type { ChatappOptions } from '../options.ts';
import type { Wire } from '../wire.ts';

/** What a login works with. */
export interface LoginParts {
  readonly wire: Wire;
  readonly options: ChatappOptions;
  /** E.164. */
  readonly phone: string;
  /** Shows the user the next step. */
  step(step: LinkStep): Promise<void>;
  /** The network let the user in: resolves once the account is connected, or the attempt has ended otherwise. */
  loggedIn(user: tl.TypeUser): Promise<void>;
}

/** One way to log an account in. What its methods throw is the end of the attempt. */
export interface Login {
  /** Resolves once the first step was shown. */
  begin(): Promise<void>;
  /** Hands a value in for the open step. `wrong` when no such value is awaited. */
  answer(field: 'code' | 'password', value: string): Promise<'accepted' | 'wrong'>;
  /** Takes what the network pushed meanwhile. */
  pushed(push: tl.TypeUpdates): void;
}

/** The network will not let the user in; the message says why, in words for the user. */
export class LoginRefused extends Error {}
