import { linkLive } from '../networks/msgapp_web/linking.ts';
import { type NetworkProcess, startNetwork } from '../networks/msgapp_web/process.ts';
import { client } from './client.ts';
import { type LinkedNumber, linkPast } from './live-linking.ts';
import { friend, type LiveNetwork } from './live-network.ts';
import { inPool } from './pool.ts';
import type { Teardown } from './processes.ts';
import type { Line } from './sending.ts';
import { phoneNumber } from './story.ts';

/** Numbers that are linked at the same time: making keys is most of it. */
const linkedAtOnce = 3;

/** Numbers whose keys are made by one call of the network. */
const provisionedAtOnce = 25;

/** Starts the network of `msgapp_web`. */
export async function msgappNetwork(t: Teardown): Promise<LiveNetwork> {
  return liveMsgapp(await startNetwork(t));
}

/** A network of `msgapp_web` that runs already. */
export function liveMsgapp({
  network,
  settings,
}: Pick<NetworkProcess, 'network' | 'settings'>): LiveNetwork {
  const numbersOf = (count: number) => Array.from({ length: count }, (_, n) => phoneNumber(n));
  return {
    channel: 'msgapp_web',
    settings,
    control: network,
    async link({ gateway, count }) {
      const api = client(gateway.baseUrl, gateway.liveKey);
      const lines: Line[] = [];
      await inPool(numbersOf(count), linkedAtOnce, async (phone) => {
        lines.push({ phone, account: await linkLive(api, network, phone) });
      });
      return lines;
    },
    async linkedAlready({ count, ...linking }) {
      const phones = numbersOf(count);
      const numbers: LinkedNumber[] = [];
      for (let at = 0; at < count; at += provisionedAtOnce) {
        const some = phones.slice(at, at + provisionedAtOnce);
        const made = await network.provision(some);
        numbers.push(...some.map((phone, n) => ({ phone, credentials: made[n] ?? {} })));
      }
      return await linkPast(linking, 'msgapp_web', numbers);
    },
    readAtOnce: (phone) => network.followWith(phone, ['delivered', 'read']),
    logins: () => network.logins(),
    logInsSince: (at) => network.logInsSince(at),
    setReachable: (reachable) => network.setNetworkReachable(reachable),
    write: async (phone, text, from = friend) => {
      await network.write(phone, { from, name: 'Ada', text });
    },
    shown: async (phone) => (await network.shown(phone)).map(({ text }) => text),
  };
}
