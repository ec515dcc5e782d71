import { LRUCache } from 'lru-cache';
import type { Secrets } from '../../secrets/contract.ts';
import { signingSecretContext } from '../subscriptions/secret.ts';
import type { Webhook } from '../tables/webhook-rows.ts';

/** How many opened secrets are kept; those used longest ago go first. */
const mostSecrets = 1_000;

/** The signing secrets of subscriptions, each opened once for as long as it is among the last used. */
export class OpenedSecrets {
  readonly #secrets: Pick<Secrets, 'open'>;
  /** By subscription and sealed text: a new secret is another text. */
  readonly #opened = new LRUCache<string, string>({ max: mostSecrets });

  constructor(secrets: Pick<Secrets, 'open'>) {
    this.#secrets = secrets;
  }

  /**
   * The secret of a subscription; null while signing is off.
   * @throws Error when it cannot be opened
   */
  of({ id, sealedSecret }: Pick<Webhook, 'id' | 'sealedSecret'>): string | null {
    if (sealedSecret === null) return null;
    const key = `${id} ${sealedSecret}`;
    const opened = this.#opened.get(key);
    if (opened !== undefined) return opened;
    const secret = this.#secrets.open(sealedSecret, signingSecretContext(id));
    this.#opened.set(key, secret);
    return secret;
  }
}
