import { LRUCache } from 'lru-cache';
import type { Secrets } from '../../secrets/contract.ts';
import {
  type SignedWebhook,
  type SigningSecrets,
  signingSecretContext,
  signingSecretsOf,
} from '../subscriptions/secret.ts';

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
   * The secrets of a subscription at a time; null while signing is off.
   * @throws Error when a secret cannot be opened
   */
  of(webhook: SignedWebhook, now: number): SigningSecrets | null {
    return signingSecretsOf(webhook, now, (sealed) => this.#open(webhook.id, sealed));
  }

  #open(id: string, sealedSecret: string): string {
    const key = `${id} ${sealedSecret}`;
    const opened = this.#opened.get(key);
    if (opened !== undefined) return opened;
    const secret = this.#secrets.open(sealedSecret, signingSecretContext(id));
    this.#opened.set(key, secret);
    return secret;
  }
}
