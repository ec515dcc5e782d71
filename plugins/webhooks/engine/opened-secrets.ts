import { LRUCache } from 'lru-cache';
import type { Secrets } from '../../secrets/contract.ts';
import { signingSecretContext } from '../subscriptions/secret.ts';
import type { Webhook } from '../tables/webhook-rows.ts';

/** Maximum opened secrets in the cache. */
const mostSecrets = 1_000;

/** LRU cache of opened signing secrets. */
export class OpenedSecrets {
  readonly #secrets: Pick<Secrets, 'open'>;
  /** Keyed by subscription and sealed text, which a new secret changes. */
  readonly #opened = new LRUCache<string, string>({ max: mostSecrets });

  constructor(secrets: Pick<Secrets, 'open'>) {
    this.#secrets = secrets;
  }

  /**
   * The secret of a subscription; null while signing is off.
   * @throws Error when the secret cannot be opened
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
