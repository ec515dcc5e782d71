import { startNetwork as startChatapp } from '../../drivers/chatapp/network-process.ts';
import { liveChatapp } from '../../harness/live-chatapp.ts';
import { liveMsgapp } from '../../harness/live-msgapp.ts';
import type { LiveNetwork } from '../../harness/live-network.ts';
import type { Teardown } from '../../harness/processes.ts';
import { phoneNumber } from '../../harness/story.ts';
import type { MeasuringControl } from '../../networks/measured-sends.ts';
import { startNetwork as startMsgapp } from '../../networks/msgapp_web/process.ts';

/** A real driver's network in a process of its own, with a gateway's account and a floor's. */
export interface AccountNetwork {
  readonly control: MeasuringControl;
  readonly live: LiveNetwork;
  /** What the floor is started with, and its number. */
  readonly floor: {
    readonly program: string;
    readonly settings: Readonly<Record<string, string>>;
    readonly phone: string;
  };
}

/** The networks, by the channel of their drivers. */
export const accountNetworks: Readonly<Record<string, (t: Teardown) => Promise<AccountNetwork>>> = {
  async msgapp_web(t) {
    const started = await startMsgapp(t);
    const { url, rootPublicKey, control } = started.places;
    const phone = phoneNumber(2);
    const settings = {
      PHONE: phone,
      SOCKET_URL: url,
      ROOT_PUBLIC_KEY: rootPublicKey,
      CONTROL_URL: control,
    };
    const program = 'test/bench/floors/account/msgapp.ts';
    return {
      control: started.network,
      live: liveMsgapp(started),
      floor: { program, settings, phone },
    };
  },
  async chatapp(t) {
    const started = await startChatapp(t);
    // The gateway links the number before it.
    const { phone, key } = (await started.control.provision(1)).at(-1) ?? { phone: '', key: '' };
    const settings = { ...started.settings, KEY: key };
    const program = 'test/bench/floors/account/chatapp.ts';
    return {
      control: started.control,
      live: liveChatapp(started),
      floor: { program, settings, phone },
    };
  },
};
