import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { client } from '../harness/client.ts';
import { runGateway } from '../harness/gateway.ts';
import { msgappNetwork, Storms, stormMs } from '../harness/live-accounts.ts';
import { openRows } from '../harness/rows.ts';
import { scale, scaled } from '../harness/scale.ts';

const count = scaled(500);
const outageMs = scale < 1 ? 5_000 : 60_000;

// Linking hundreds of numbers takes minutes.
t.setTimeout(1_800_000);

const settings = {
  GATEWAY_PLANS__GROWTH__SENDS_CAP: '1000000',
  GATEWAY_PLANS__GROWTH__NEW_CONTACTS_CAP: '1000000',
};

t.test(`${count} accounts of msgapp_web on the embedded database`, async (t) => {
  const network = await msgappNetwork(t);
  const gateway = await runGateway(t, {
    databaseUrl: null,
    settings: { ...network.settings, ...settings },
  });
  const api = client(gateway.baseUrl, gateway.liveKey);
  const lines = await network.link(api, count);
  const storms = new Storms(network, lines, openRows(t, `sqlite:${gateway.dataDir}/gateway.db`));
  const origins = [new URL(gateway.baseUrl).origin];
  const all = { api, origins, withinMs: stormMs(count) };
  const stopAndStart = async (): Promise<void> => {
    t.equal(await gateway.stop(), 0);
    await gateway.start();
  };
  await storms.storm(t, 'start after a stop', stopAndStart, { ...all, fences: 1 });
  const killAndStart = async (): Promise<void> => {
    await gateway.kill();
    await gateway.start();
  };
  await storms.storm(t, 'start after a SIGKILL', killAndStart, { ...all, fences: 1 });
  const outage = async (): Promise<void> => {
    await network.setReachable(false);
    await sleep(outageMs);
    await network.setReachable(true);
  };
  await storms.storm(t, 'outage of the network', outage, { ...all, fences: 0 });
  t.notMatch(gateway.output(), /could not be renewed|another process has taken/);
});
