import { databases, type TestDatabase } from '../../harness/databases.ts';
import { type Bench, type BenchRun, type Figure, type Found, Turns } from '../bench.ts';
import { burst } from './burst.ts';
import { memory } from './memory.ts';
import { accountNetworks } from './network.ts';
import { backToBack, type Delays, type Draining, drain, idle } from './sends.ts';
import { type AccountSide, type AccountSides, startSides } from './sides.ts';
import { textsTo } from './texts.ts';

/** How many contacts an account writes to. */
const contacts = 50;
/** Turns of each measurement that do not count: the first ones also agree on keys with the contacts. */
const warmUps = 2;

/** One account of each real driver, on both databases; the floors are bare programs on the drivers' libraries. */
export const accounts: readonly Bench[] = Object.keys(accountNetworks).flatMap((channel) => [
  ...databases.map(({ name }) => accountBench(channel, name)),
  memory(channel),
]);

function accountBench(channel: string, engine: TestDatabase['name']): Bench {
  return {
    name: `account/${channel}/${engine}`,
    about: `One account of ${channel} on ${engine}. Floor: the bare library, its durable rows by hand.`,
    run: async (run) => await figures(run, await startSides(run, channel, engine)),
  };
}

async function figures(run: BenchRun, sides: AccountSides): Promise<readonly Figure[]> {
  const { gateway, floor } = sides;
  const turns = <Name extends string>(turn: (side: AccountSide) => Promise<Found<Name>>) =>
    new Turns(
      run,
      () => turn(gateway),
      () => turn(floor),
    );
  const drained = (draining: Draining) => turns((side) => drain(sides, side, draining));
  // In a trial too each contact writes: the network knows whoever has written.
  const received = Math.max(contacts, run.count(200));
  const bursts = turns((side) => burst(sides, side, { contacts, count: received }));
  const many = drained({ contacts, count: run.count(600), answerAfterMs: 0 });
  const slow = drained({ contacts, count: run.count(200), answerAfterMs: 50 });
  const one = drained({ contacts: 1, count: run.count(200), answerAfterMs: 0 });
  const slowOne = drained({ contacts: 1, count: run.count(60), answerAfterMs: 50 });
  const measured = [bursts, many, one, slow, slowOne];
  for (const each of measured) await each.warmUp(warmUps);
  const delays: { readonly busy: Delays; readonly idle: Delays }[] = [];
  for (let round = 0; round < run.rounds; round += 1) {
    for (const each of measured) await each.round(1);
    const delay = {
      busy: await backToBack(sides, textsTo(contacts, run.count(200))),
      idle: await idle(sides, textsTo(contacts, run.count(20))),
    };
    run.say(`delays: ${JSON.stringify(delay)}`);
    delays.push(delay);
  }
  const rate = { unit: '/s', goal: { atLeast: 0.8 } };
  const time = { unit: 'ms', goal: { atMost: 1.5 } };
  return [
    many.figure('rate', { name: `messages a second, ${contacts} contacts`, ...rate }),
    many.figure('busy', { name: 'processor time each', ...time }),
    slow.figure('rate', { name: 'messages a second, answers after 50 ms', ...rate }),
    one.figure('rate', { name: 'messages a second, one contact', ...rate }),
    slowOne.figure('rate', {
      name: 'messages a second, one contact, answers after 50 ms',
      ...rate,
    }),
    {
      name: 'median delay from request to network, back to back and idle',
      unit: 'ms',
      gateway: delays.map(({ busy }) => busy.fromRequest),
      floor: delays.map(({ idle }) => idle.fromRequest),
      goal: { atMost: 3 },
    },
    {
      name: 'median delay from 202 to network, back to back',
      unit: 'ms',
      gateway: delays.map(({ busy }) => busy.from202),
      floor: null,
      goal: null,
    },
    bursts.figure('took', { name: `${received} received, to a webhook receiver`, ...time }),
  ];
}
