import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { Test } from 'tap';
import { listening } from '../../harness/ports.ts';
import { expect, type World } from './world.ts';

/** Settings under which webhooks may be delivered to the test itself. */
export const webhookSettings = {
  GATEWAY_WEBHOOKS__ALLOW_HTTP: 'true',
  GATEWAY_WEBHOOKS__ALLOW_PRIVATE_TARGETS: 'true',
};

/** The life of a webhook, by its tools. */
export async function webhooks(t: Test, world: World): Promise<void> {
  const received: IncomingHttpHeaders[] = [];
  const receiver = createServer((request, response) => {
    received.push(request.headers);
    request.resume().once('end', () => response.end());
  });
  const url = `${await listening(t, receiver)}/hook`;

  const types = await expect<{ events: string[] }>(world, 200, 'list_webhook_events');
  t.equal(types.events.length, 9);
  const body = { url, subscribed_to: ['message.received'], generate_signing_secret: true };
  const made = await expect<{ webhook: { id: string }; signing_secret: string }>(
    world,
    201,
    'create_webhook',
    { body },
  );
  t.match(made.signing_secret, /^whsec_/);
  const webhookId = made.webhook.id;
  t.match(await expect(world, 200, 'list_webhooks'), {
    success: true,
    webhooks: [{ id: webhookId }],
  });
  const tested = await expect(world, 200, 'test_webhook', { webhookId });
  t.match(tested, { success: true, webhook_id: webhookId, delivered: true });
  t.match(received[0], { 'x-webhook-signature': /^v1=/ });
  t.match(await expect(world, 200, 'get_webhook_signing_secret', { webhookId }), {
    signing_secret: made.signing_secret,
  });
  const rotated = await expect<{ signing_secret: string }>(
    world,
    200,
    'rotate_webhook_signing_secret',
    { webhookId },
  );
  t.not(rotated.signing_secret, made.signing_secret);
  await expect(world, 200, 'update_webhook', { webhookId, body: { name: 'mine' } });
  t.match(await expect(world, 200, 'get_webhook_health', { webhookId: 'mine' }), {
    webhook_id: webhookId,
  });
  await expect(world, 200, 'reenable_webhook', { webhookId });
  t.match(await expect(world, 200, 'turn_off_webhook_signing', { webhookId }), {
    signing_enabled: false,
  });
  t.match(await expect(world, 200, 'delete_webhook', { webhookId }), { deleted: true });
  const gone = await world.agent.call('get_webhook_health', { webhookId });
  t.match(gone, { status: 404, body: { success: false, error_code: 'webhook_not_found' } });
}
