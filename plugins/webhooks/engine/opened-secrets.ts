import type { Secrets } from '../../secrets/contract.ts';
import type { Webhook } from '../contract.ts';
import { signingSecretContext } from '../secret.ts';

/**
 * The signing secrets of subscriptions, each opened once for all deliveries that one look has found: it is kept with the
 * subscription as it was read, and goes with it.
 */
export class OpenedSecrets {
  readonly #secrets: Pick<Secrets, 'open'>;
  readonly #opened = new WeakMap<Webhook, string>();

  constructor(secrets: Pick<Secrets, 'open'>) {
    this.#secrets = secrets;
  }

  /**
   * The secret of a subscription; null while signing is off.
   * @throws Error when it cannot be opened
   */
  of(webhook: Webhook): string | null {
    const { id, sealedSecret } = webhook;
    if (sealedSecret === null) return null;
    const known = this.#opened.get(webhook);
    if (known !== undefined) return known;
    const secret = this.#secrets.open(sealedSecret, signingSecretContext(id));
    this.#opened.set(webhook, secret);
    return secret;
  }
}
