import type { ServerResponse } from 'node:http';
import type { Test } from 'tap';
import { runGateway } from '../../harness/gateway.ts';
import { mediaServer } from '../../harness/media-server.ts';
import { type Reaction, startReceiver } from '../../harness/receiver.ts';
import { befall, pair, phoneNumber, sendAccepted } from '../../harness/story.ts';
import type { Watch } from '../watch.ts';

const to = { phone: phoneNumber(9) };

/** What has to last for ten seconds before its alert sees it, and a restriction meanwhile. */
export async function lastingTroubles(t: Test, watch: Watch): Promise<void> {
  const gateway = await runGateway(t, {
    databaseUrl: null,
    settings: { GATEWAY_WEBHOOKS__TIMEOUT_S: '60' },
  });
  const { api } = gateway;
  const job = watch.job('lasting', [gateway]);
  const unanswered: ServerResponse[] = [];
  let reaction: Reaction = (response) => void unanswered.push(response);
  const receiver = await startReceiver(t, () => reaction);
  const [account_id, hung] = [await pair(api, phoneNumber(1)), await pair(api, phoneNumber(2))];
  await job.fires([]);
  const media = await mediaServer(t);
  media.answer('/gone.png', (_request, response) => response.writeHead(404).end());
  await job.fires(['GatewayReceivedFilesLost'], async () => {
    const file = { from: to, media_url: `${media.url}/gone.png` };
    for (let n = 0; n < 4; n += 1) {
      await api.post(`/sandbox/phones/${phoneNumber(1)}/inbound`, file);
    }
  });
  await job.fires(['GatewaySendsFailing'], async () => {
    await api.put(`/sandbox/phones/${phoneNumber(1)}`, { send: 'fail' });
    for (let n = 0; n < 7; n += 1) await sendAccepted(api, { account_id, to });
  });
  await api.put(`/sandbox/phones/${phoneNumber(1)}`, { send: 'read' });

  const lasting = ['GatewayDeliveriesBehind', 'GatewayQueueNotDraining'];
  await api.post('/webhooks', { url: receiver.url(), subscribed_to: ['message.sent'] });
  for (let n = 0; n < 4; n += 1) await sendAccepted(api, { account_id, to });
  await api.put(`/sandbox/phones/${phoneNumber(2)}`, { send: 'hang' });
  await sendAccepted(api, { account_id: hung, to });
  // To new contacts first: it leaves the status as it is.
  for (const scope of ['new_contacts', 'all']) {
    const restrict = { type: 'restrict', scope, for_ms: 600_000 };
    await job.fires(
      ['GatewayAccountRestricted'],
      () => befall(api, phoneNumber(1), restrict),
      lasting,
    );
  }
  await job.fires(lasting, () => befall(api, phoneNumber(1), { type: 'lift_restriction' }));
  await job.fires(['GatewayQueueNotDraining'], async () => {
    reaction = 204;
    for (const response of unanswered) response.writeHead(204).end();
  });
}
