import { randomBytes, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Caller } from '../../../core/contracts/caller.ts';
import type { EgressAnswer, EgressFailureKind, EgressOutcome } from '../../egress/contract.ts';
import type { CallbackFault, SubscriptionRefusal } from '../contract.ts';
import { Counts } from '../counts.ts';
import type { Callback, ControlMessages } from './control-messages.ts';

/** Callbacks that are remembered, and for how long. */
const remembered = { max: 1_000, ttl: 3_600_000 };
/** Challenges of one tenant that one process has open to a host at once. */
const openPerHost = 4;

const faults: Readonly<Record<Exclude<EgressFailureKind, 'blocked'>, CallbackFault>> = {
  timeout: 'timeout',
  connection: 'connection_refused',
  tls: 'tls_error',
};

/**
 * Asks callbacks whether they want what a key subscribes them to (SEP-3415, Callback verification): whoever answers can
 * open the message and sends its nonce back.
 */
export class Challenges {
  readonly #messages: ControlMessages;
  readonly #passed = new LRUCache<string, true>(remembered);
  /** By tenant and host. */
  readonly #open = new Counts();

  constructor(messages: ControlMessages) {
    this.#messages = messages;
  }

  /** Why a callback may not be subscribed by a key; null when it may. One that has passed is asked again after an hour. */
  async refusal(
    { tenantId, keyId }: Pick<Caller, 'tenantId' | 'keyId'>,
    callback: Callback,
  ): Promise<SubscriptionRefusal | null> {
    const target = `${keyId} ${callback.url}`;
    if (this.#passed.has(target)) return null;
    const key = `${tenantId} ${new URL(callback.url).host}`;
    if (this.#open.of(key) >= openPerHost) {
      return { kind: 'limit', limit: 'challenges', max: openPerHost };
    }
    this.#open.add(key, 1);
    try {
      const challenge = randomBytes(24).toString('base64url');
      const outcome = await this.#messages.post(callback, { type: 'verification', challenge });
      const refusal = verdictOn(outcome, challenge);
      if (refusal === null) this.#passed.set(target, true);
      return refusal;
    } finally {
      this.#open.add(key, -1);
    }
  }
}

function verdictOn(
  outcome: EgressOutcome<EgressAnswer>,
  challenge: string,
): SubscriptionRefusal | null {
  if (!outcome.answered) {
    const { kind, message } = outcome.failure;
    return kind === 'blocked'
      ? { kind: 'url', message }
      : { kind: 'callback', fault: faults[kind] };
  }
  const { status, text } = outcome.answer;
  if (status >= 400) return { kind: 'callback', fault: status < 500 ? 'http_4xx' : 'http_5xx' };
  const isPassed = status >= 200 && status <= 299 && isSame(challengeIn(text), challenge);
  return isPassed ? null : { kind: 'callback', fault: 'challenge_failed' };
}

function challengeIn(text: string): unknown {
  try {
    return (JSON.parse(text) as { readonly challenge?: unknown } | null)?.challenge;
  } catch {
    return undefined;
  }
}

function isSame(given: unknown, expected: string): boolean {
  if (typeof given !== 'string') return false;
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
