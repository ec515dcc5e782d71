import t from 'tap';
import { makeChatappDriver } from '../../../drivers/chatapp/driver.ts';
import { driverContract } from '../../../testing/contract/driver.ts';
import { quickTiming, runNetwork } from './running-network.ts';
import { chatappWorld } from './world.ts';

const { control, options } = await runNetwork(t);

await driverContract(t, {
  name: 'chatapp',
  makeDriver: () => makeChatappDriver({ options }, quickTiming),
  world: chatappWorld(control),
  patienceMs: 15_000,
});
