import type { Broker } from '../../core/contracts/broker.ts';
import type { Clock } from '../../core/contracts/clock.ts';
import type { Storage } from '../../core/contracts/storage.ts';
import { GatewayError } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import type { GatewayLog } from '../../core/log.ts';
import type { MintAddress } from '../../core/media-reference.ts';
import type { AnyOperation } from '../../core/operation.ts';
import type { ChannelRegistry } from '../accounts/contract.ts';
import type { Egress } from '../egress/contract.ts';
import type { Cursors, Secrets } from '../secrets/contract.ts';
import type { Plans } from '../tenants/contract.ts';
import { DeliveryLog } from './delivery-log.ts';
import { notifyAll } from './engine/due-notices.ts';
import { mayUseWebhooks } from './matching.ts';
import { createWebhook, updateWebhook } from './operations/changes.ts';
import { listDeliveries, replayDelivery } from './operations/deliveries.ts';
import { getHealth, reenableWebhook } from './operations/health.ts';
import type { WebhookOperationsParts } from './operations/parts.ts';
import { getRecovery, recoverWebhook } from './operations/recovery.ts';
import { getSecret, rotateSecret, turnOffSigning } from './operations/secrets.ts';
import { deleteWebhook, listWebhookEvents, listWebhooks } from './operations/subscriptions.ts';
import { testWebhook } from './operations/test.ts';
import { beginRecoveryLane } from './recovery/begin-lane.ts';
import { deliverSample } from './sample-delivery.ts';
import { makeChangeLane } from './subscriptions/change-lane.ts';
import { WebhookSubscriptions } from './subscriptions/subscriptions.ts';
import type { TestSlots } from './test-slots.ts';

/** Dependencies of the operations. */
export interface WebhooksParts {
  readonly storage: Storage;
  readonly broker: Broker;
  readonly egress: Egress;
  readonly secrets: Secrets;
  readonly cursors: Cursors;
  readonly plans: Plans;
  readonly channels: Pick<ChannelRegistry, 'channels'>;
  readonly clock: Clock;
  readonly log: GatewayLog;
  /** Makes an expiring address of stored media. */
  readonly mint: MintAddress;
  readonly tests: TestSlots;
  /** Aborted as soon as the gateway stops. */
  readonly stopping: AbortSignal;
  readonly settings: {
    readonly maxSubscriptions: number;
    readonly previousSecretMs: number;
    readonly timeoutMs: number;
    readonly connectTimeoutMs: number;
  };
}

/** The operations on webhooks. `stop` waits for their work in the background. */
export interface MadeOperations {
  readonly operations: readonly AnyOperation[];
  stop(): Promise<void>;
}

/** Makes the operations on webhooks. Called by the plugin. */
export function makeWebhookOperations(parts: WebhooksParts): MadeOperations {
  const { storage, broker, egress, secrets, cursors, plans, channels, clock, settings, log } =
    parts;
  const { maxSubscriptions, previousSecretMs } = settings;
  const notifyDue = () => notifyAll(broker);
  const changeLane = makeChangeLane({ maxSubscriptions, previousSecretMs, log, notifyDue });
  const subscriptions = new WebhookSubscriptions({
    ...{ storage, changeLane, secrets, egress, clock, channels },
  });
  const deliveryLog = new DeliveryLog(parts);
  const { timeoutMs, connectTimeoutMs } = settings;
  const testParts = { storage, egress, clock, timeoutMs, connectTimeoutMs };
  const operations = webhookOperations(
    {
      subscriptions,
      deliveryLog,
      deliverSample: (webhook, sample) =>
        parts.tests.run(webhook, () => deliverSample(testParts, webhook, sample)),
      recover: {
        async begin(input) {
          const output = await storage.submit(beginRecoveryLane, { ...input, id: newId('rec') });
          if ('refused' in output) throw output.refused;
          return output.recovery;
        },
        find: (webhookId) => storage.read.recoveries.find(webhookId),
      },
      cursors,
    },
    plans,
  );
  return { operations, stop: () => deliveryLog.stop() };
}

/** All operations on webhooks, in the order of the documentation. */
function webhookOperations(
  parts: WebhookOperationsParts,
  plans: Pick<Plans, 'plan'>,
): readonly AnyOperation[] {
  return [
    listWebhooks(parts),
    createWebhook(parts),
    listWebhookEvents(),
    updateWebhook(parts),
    deleteWebhook(parts),
    testWebhook(parts),
    getHealth(parts),
    reenableWebhook(parts),
    getSecret(parts),
    rotateSecret(parts),
    turnOffSigning(parts),
    listDeliveries(parts),
    replayDelivery(parts),
    recoverWebhook(parts),
    getRecovery(parts),
  ].map((operation) => forEnabled(operation, plans));
}

/** The operation, refused to tenants whose webhooks are switched off or whose plan has none. */
function forEnabled(operation: AnyOperation, plans: Pick<Plans, 'plan'>): AnyOperation {
  return {
    ...operation,
    errors: ['webhooks_not_enabled', ...operation.errors],
    async handler(request) {
      if (!mayUseWebhooks(request.caller, plans)) throw new GatewayError('webhooks_not_enabled');
      return await operation.handler(request);
    },
  };
}
