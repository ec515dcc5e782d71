import { GatewayError } from '../../core/errors.ts';
import type { AnyOperation } from '../../core/operation.ts';
import type { Plans } from '../tenants/contract.ts';
import { mayUseWebhooks } from './matching.ts';
import { createWebhook, updateWebhook } from './operations/changes.ts';
import { listDeliveries, replayDelivery } from './operations/deliveries.ts';
import { getHealth, reenableWebhook } from './operations/health.ts';
import type { WebhookOperationsParts } from './operations/parts.ts';
import { getRecovery, recoverWebhook } from './operations/recovery.ts';
import { getSecret, rotateSecret, turnOffSigning } from './operations/secrets.ts';
import { deleteWebhook, listWebhookEvents, listWebhooks } from './operations/subscriptions.ts';
import { testWebhook } from './operations/test.ts';

/** All operations on webhooks, in the order of the documentation. */
export function webhookOperations(
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
