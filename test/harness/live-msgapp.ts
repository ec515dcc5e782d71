import { linkLive } from '../networks/msgapp_web/linking.ts';
import { type NetworkProcess, startNetwork } from '../networks/msgapp_web/process.ts';
import { client } from './client.ts';
import { friend, type LiveNetwork } from './live-network.ts';
import type { Teardown } from './processes.ts';
import type { Line } from './sending.ts';
import { phoneNumber } from './story.ts';

/** Numbers that are linked at the same time: making keys is most of it. */
const linkedAtOnce = 3;

/** Starts the network of `msgapp_web`. */
export async function msgappNetwork(t: Teardown): Promise<LiveNetwork> {
  return liveMsgapp(await startNetwork(t));
}

/** A network of `msgapp_web` that runs already. */
export function liveMsgapp({
  network,
  settings,
}: Pick<NetworkProcess, 'network' | 'settings'>): LiveNetwork {
  return {
    settings,
    async link({ gateway, count }) {
      const api = client(gateway.baseUrl, gateway.liveKey);
      const lines: Line[] = [];
      const numbers = Array.from({ length: count }, (_, n) => phoneNumber(n + 1));
      const linking = async (): Promise<void> => {
        for (let phone = numbers.shift(); phone !== undefined; phone = numbers.shift()) {
          lines.push({ phone, account: await linkLive(api, network, phone) });
        }
      };
      await Promise.all(Array.from({ length: linkedAtOnce }, linking));
      return lines;
    },
    logins: () => network.logins(),
    setReachable: (reachable) => network.setNetworkReachable(reachable),
    write: async (phone, text) => {
      await network.write(phone, { from: friend, name: 'Ada', text });
    },
    shown: async (phone) => (await network.shown(phone)).map(({ text }) => text),
  };
}
