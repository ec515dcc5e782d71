import { randomBytes } from 'node:crypto';
import type { Storage } from '../../../core/contracts/storage.ts';
import type { Egress, EgressAnswer, EgressOutcome } from '../../egress/contract.ts';
import type { SigningSecrets } from '../subscriptions/secret.ts';
import { callbackHeaders } from './rendering.ts';

/** Time limit of a message that is no event (SEP-3415: about 5 s). */
const timeoutMs = 5_000;

/** A message to a callback that is no event. */
export interface ControlMessage {
  readonly type: 'verification' | 'terminated';
  readonly [field: string]: unknown;
}

/** Where a control message goes, and how it is signed. */
export interface Callback {
  readonly subscriptionId: string;
  readonly url: string;
  readonly secrets: SigningSecrets;
}

/** Posts control messages, signed as deliveries are. */
export class ControlMessages {
  readonly #egress: Pick<Egress, 'post'>;
  readonly #storage: Pick<Storage, 'now'>;

  constructor(egress: Pick<Egress, 'post'>, storage: Pick<Storage, 'now'>) {
    this.#egress = egress;
    this.#storage = storage;
  }

  /** Posts once. @throws GatewayError `unavailable` when the database does not say what time it is */
  async post(
    { subscriptionId, url, secrets }: Callback,
    message: ControlMessage,
  ): Promise<EgressOutcome<EgressAnswer>> {
    const body = JSON.stringify(message);
    const id = `msg_${message.type}_${randomBytes(16).toString('hex')}`;
    const at = Math.floor((await this.#storage.now()) / 1000);
    const headers = callbackHeaders({ subscriptionId, id, body, secrets }, at);
    return this.#egress.post({ url, headers, body, timeoutMs, connectTimeoutMs: timeoutMs });
  }
}
