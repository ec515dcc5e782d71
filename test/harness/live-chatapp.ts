import { type NetworkProcess, startNetwork } from '../drivers/chatapp/network-process.ts';
import { linkPast } from './live-linking.ts';
import { friend, friends, type LiveNetwork } from './live-network.ts';
import type { Teardown } from './processes.ts';

/** Starts the network of `chatapp`, whose numbers are linked past the gateway: agreeing on a key takes long. */
export async function chatappNetwork(t: Teardown): Promise<LiveNetwork> {
  return liveChatapp(await startNetwork(t));
}

/** A network of `chatapp` that runs already. */
export function liveChatapp({ control, settings }: NetworkProcess): LiveNetwork {
  const linkedAlready: LiveNetwork['linkedAlready'] = async ({ count, ...linking }) => {
    const provisioned = (await control.provision(count)).slice(0, count);
    for (const { phone } of provisioned) {
      await control.put(phone, {
        contacts: friends.map((one, n) => ({ phone: one, name: `Ada ${n}` })),
      });
    }
    const numbers = provisioned.map(({ phone, key }) => ({
      phone,
      credentials: { session: JSON.stringify({ version: 1, keys: { 2: key }, values: {} }) },
    }));
    return await linkPast(linking, 'chatapp', numbers);
  };
  return {
    channel: 'chatapp',
    settings,
    control,
    link: linkedAlready,
    linkedAlready,
    readAtOnce: async (phone) => await control.put(phone, { readsAtOnce: true }),
    logins: () => control.logins(),
    logInsSince: (at) => control.logInsSince(at),
    setReachable: (reachable) => control.setReachable(reachable),
    write: async (phone, text, from = friend) => {
      await control.write(phone, { from, text });
    },
    shown: async (phone) => (await control.outbox(phone)).map(({ text }) => text),
  };
}
