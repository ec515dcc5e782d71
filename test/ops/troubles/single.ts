import { join } from 'node:path';
import type { Test } from 'tap';
import { client } from '../../harness/client.ts';
import { runGateway } from '../../harness/gateway.ts';
import { type Reaction, startReceiver } from '../../harness/receiver.ts';
import { befall, pair, phoneNumber, sendAccepted } from '../../harness/story.ts';
import type { Watch } from '../watch.ts';

const driver = join(import.meta.dirname, '../../e2e/drivers/echo.mjs');
const to = { phone: phoneNumber(9) };
const subscribed_to = ['message.sent'];

/** A receiver, a network, a driver and an account of one process. */
export async function singleTroubles(t: Test, watch: Watch): Promise<void> {
  const gateway = await runGateway(t, {
    databaseUrl: null,
    settings: { GATEWAY_SESSIONS__CAPACITY: '2', GATEWAY_CHANNELS__BAD__DRIVER: driver },
  });
  const { api, baseUrl, liveKey } = gateway;
  const job = watch.job('single', [gateway]);
  let reaction: Reaction = 500;
  const receiver = await startReceiver(t, () => reaction);
  const account_id = await pair(api, phoneNumber(1));
  await api.post('/webhooks', { url: receiver.url(), subscribed_to, retries_enabled: true });
  await job.fires([]);

  await job.fires(['GatewayReceiverFailing'], () => sendAccepted(api, { account_id, to }));
  await watch.showsDashboard();
  await job.fires(['GatewayReceiverPaused'], async () => {
    reaction = 410;
  });
  await job.fires(['GatewayNetworkUnreachable', 'GatewayReceiverPaused'], () =>
    api.put('/sandbox/network', { reachable: false }),
  );
  const live = client(baseUrl, liveKey);
  const connection = '/channels/bad/connections';
  await job.fires(['GatewayReceiverPaused', 'GatewaySessionsAtCapacity'], async () => {
    await api.put('/sandbox/network', { reachable: true });
    await live.post(connection, { identifier: 'ada@home' });
    const step = { field: 'password', value: 'right' };
    await live.post(`${connection}/ada@home/steps`, step);
  });
  await job.fires(
    ['GatewayInboundUnreadable', 'GatewayReceiverPaused', 'GatewaySessionsAtCapacity'],
    () => sendAccepted(live, { to, text: 'cannotRead' }),
  );
  await job.fires(
    ['GatewayEventLoopStalled', 'GatewayReceiverPaused', 'GatewaySessionsAtCapacity'],
    () => sendAccepted(live, { to, text: 'blocks2later' }),
  );
  await job.fires(['GatewayReceiverPaused'], () => live.delete(`${connection}/ada@home`));
  await job.fires(['GatewayAccountDisconnected', 'GatewayReceiverPaused'], () =>
    befall(api, phoneNumber(1), { type: 'log_out' }),
  );
}
