import type { Clock } from '../../../core/contracts/clock.ts';
import type { Lane, Storage } from '../../../core/contracts/storage.ts';
import { GatewayError } from '../../../core/errors.ts';
import { newId } from '../../../core/ids.ts';
import type { ChannelRegistry } from '../../accounts/contract.ts';
import type { Egress } from '../../egress/contract.ts';
import type { Secrets } from '../../secrets/contract.ts';
import { unknownAccount, unknownChannels, urlNotAllowed, urlNotChecked } from '../refusals.ts';
import type { Health } from '../tables/receiver-rows.ts';
import type { Webhook } from '../tables/webhook-rows.ts';
import type { Change, NewWebhook, WebhookChanges } from './change.ts';
import type { ChangeInput, ChangeOutput } from './change-lane.ts';
import {
  newSigningSecret,
  type SigningSecrets,
  signingSecretContext,
  signingSecretsOf,
} from './secret.ts';

/** Dependencies of subscriptions. */
export interface SubscriptionsParts {
  readonly storage: Pick<Storage, 'read' | 'submit'>;
  readonly changeLane: Lane<ChangeInput, ChangeOutput>;
  readonly secrets: Pick<Secrets, 'seal' | 'open'>;
  readonly egress: Pick<Egress, 'refusal'>;
  readonly clock: Clock;
  readonly channels: Pick<ChannelRegistry, 'channels'>;
}

/** A subscription with its new secret. */
export interface Signed {
  readonly webhook: Webhook;
  readonly secret: string;
}

/** The subscriptions of all tenants, for their operations. Methods that change a subscription may throw its refusal. */
export class WebhookSubscriptions {
  readonly #parts: SubscriptionsParts;

  constructor(parts: SubscriptionsParts) {
    this.#parts = parts;
  }

  /** Subscriptions of a tenant, oldest first. */
  list(tenantId: string): Promise<readonly Webhook[]> {
    return this.#parts.storage.read.webhooks.list(tenantId);
  }

  /** @throws GatewayError `webhook_not_found` when the tenant has none with this id or exact name */
  async find(tenantId: string, idOrName: string): Promise<Webhook> {
    const webhook = await this.#parts.storage.read.webhooks.find(tenantId, idOrName);
    if (webhook === null) throw new GatewayError('webhook_not_found');
    return webhook;
  }

  /** Health of a subscription's URL. */
  async health({ receiverId }: Webhook): Promise<Health | null> {
    const [receiver] = await this.#parts.storage.read.receivers.find([receiverId]);
    return receiver?.health ?? null;
  }

  /** Health of the URLs of subscriptions, by receiver id, in one read. */
  async healths(webhooks: readonly Webhook[]): Promise<ReadonlyMap<string, Health>> {
    const ids = webhooks.map(({ receiverId }) => receiverId);
    const receivers = await this.#parts.storage.read.receivers.find(ids);
    return new Map(receivers.map(({ id, health }) => [id, health]));
  }

  /**
   * @param isSigned whether a signing secret is made, too
   * @throws GatewayError `url_not_allowed`; `unavailable` while no name server tells the host of the URL;
   *   `invalid_request` for the name, an account, a channel or one subscription too many
   */
  async create(
    tenantId: string,
    webhook: Omit<NewWebhook, 'sealedSecret'>,
    isSigned: boolean,
  ): Promise<{ readonly webhook: Webhook; readonly secret: string | null }> {
    await this.#refuseUrl(webhook.url);
    await this.#refuseFilters(tenantId, webhook);
    const id = newId('wh');
    const secret = isSigned ? newSigningSecret() : null;
    const sealedSecret = secret === null ? null : this.#seal(id, secret);
    const change: Change = { kind: 'create', webhook: { ...webhook, sealedSecret } };
    const made = await this.#change({ tenantId, id }, change);
    return { webhook: made.webhook, secret };
  }

  /** @throws GatewayError as `create` */
  async update(webhook: Webhook, changes: WebhookChanges): Promise<Webhook> {
    if (changes.url !== undefined) await this.#refuseUrl(changes.url);
    await this.#refuseFilters(webhook.tenantId, changes);
    return (await this.#change(webhook, { kind: 'update', changes })).webhook;
  }

  /** Deletes a subscription; its deliveries stay, see `DeliveryLog.forget`. */
  async delete(webhook: Webhook): Promise<void> {
    await this.#change(webhook, { kind: 'delete', webhook });
  }

  /** Ends the pause of a subscription's URL; answers the health after it. */
  async reenable(webhook: Webhook): Promise<Health | null> {
    return (await this.#change(webhook, { kind: 'reenable' })).health;
  }

  /**
   * The signing secrets; null while signing is off.
   * @throws GatewayError `internal_error` when no key opens the current one, with what mends it
   */
  secretsOf(webhook: Webhook): SigningSecrets | null {
    const { clock, secrets } = this.#parts;
    const context = signingSecretContext(webhook.id);
    try {
      return signingSecretsOf(webhook, clock.now(), (sealed) => secrets.open(sealed, context));
    } catch (cause) {
      const message = 'The gateway cannot open the signing secret: rotate it, or turn signing off.';
      throw new GatewayError('internal_error', { message, cause });
    }
  }

  /** Replaces the signing secret, or makes the first one. The one before signs beside it for a while. */
  async rotateSecret(webhook: Webhook): Promise<Signed> {
    const secret = newSigningSecret();
    const sealedSecret = this.#seal(webhook.id, secret);
    const changed = await this.#change(webhook, { kind: 'sign', sealedSecret });
    return { webhook: changed.webhook, secret };
  }

  /** Removes the signing secret, and the one before it. */
  async stopSigning(webhook: Webhook): Promise<Webhook> {
    return (await this.#change(webhook, { kind: 'sign', sealedSecret: null })).webhook;
  }

  #seal(id: string, secret: string): string {
    return this.#parts.secrets.seal(secret, signingSecretContext(id));
  }

  async #refuseUrl(url: string): Promise<void> {
    const failure = await this.#parts.egress.refusal(url);
    if (failure === null) return;
    const { message, mayPass } = failure;
    throw mayPass === true ? urlNotChecked(message) : urlNotAllowed(message);
  }

  /** Removed accounts of the tenant are accepted, so that what was read can be written back. */
  async #refuseFilters(
    tenantId: string,
    { accountIds, channels }: Pick<WebhookChanges, 'accountIds' | 'channels'>,
  ): Promise<void> {
    const known = this.#parts.channels.channels();
    const unknown = (channels ?? []).flatMap((name, n) => (known.includes(name) ? [] : [n]));
    if (unknown.length > 0) throw unknownChannels(unknown, known);
    if (accountIds == null) return;
    const accounts = await this.#parts.storage.read.accounts.find(accountIds);
    const own = new Set(accounts.flatMap((one) => (one.tenantId === tenantId ? one.id : [])));
    const foreign = accountIds.findIndex((id) => !own.has(id));
    if (foreign >= 0) throw unknownAccount(foreign);
  }

  async #change({ tenantId, id }: Pick<Webhook, 'tenantId' | 'id'>, change: Change) {
    const { storage, changeLane } = this.#parts;
    const output = await storage.submit(changeLane, { tenantId, id, change });
    if ('refused' in output) throw output.refused;
    return output;
  }
}
