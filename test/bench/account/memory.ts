import { alone } from '../alone.ts';
import type { Bench } from '../bench.ts';
import { heldWith, liveSides } from '../live-sessions.ts';

/** Accounts of a channel right after they were linked, in one process on the embedded database. */
export function memory(channel: string): Bench {
  const side = liveSides.find((one) => one.channel === channel);
  if (side === undefined) throw new Error(`there is no ${channel}`);
  const { network, library } = side;
  return {
    name: `account/${channel}/memory`,
    about: `Accounts of ${channel} that were just linked. Floor: what the bare library takes.`,
    async run(run) {
      const count = run.count(30);
      const gateway: number[] = [];
      const floor: number[] = [];
      for (let round = 0; round < Math.min(run.rounds, 2); round += 1) {
        const many = await alone((t) => heldWith(t, network, count + 1, 'linked'));
        const one = await alone((t) => heldWith(t, network, 1, 'linked'));
        gateway.push((many - one) / count / 1_024);
        floor.push((await alone((t) => library(t, count, 'linked'))) / 1_024);
        run.say(`round ${round + 1}: gateway ${gateway.at(-1)} KB, floor ${floor.at(-1)} KB`);
      }
      const name = `memory a session just linked, ${count}`;
      return [{ name, unit: 'KB', gateway, floor, goal: { atMost: 1.5 } }];
    },
  };
}
