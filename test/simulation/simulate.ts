import { percentile } from '../bench/statistics.ts';
import { begin, Clock, type Walk } from './clock.ts';
import { Installation, type Setting } from './installation.ts';

/** What a stretch of a run showed. Times from a request on: median and 99th percentile, milliseconds. */
export interface Outcome {
  /** Messages that came to their end, a second. */
  readonly rate: number;
  readonly accepted: readonly number[];
  readonly ended: readonly number[];
  /** Cores that were busy: those of all gateways, of the database and of the broker. */
  readonly busy: readonly number[];
}

/** So many clients send so many messages, each the next one after its 202, until the last has come to its end. */
export function drain(setting: Setting, clients: number, messages: number): Outcome {
  const installation = new Installation(new Clock(1), setting);
  const client = function* (): Walk {
    while (installation.entered < messages) yield* installation.send();
  };
  for (let n = 0; n < clients; n += 1) begin(client());
  return observe(installation, 0, () => installation.ended.length === messages);
}

/** So many messages a second come at random moments, for so many seconds, of which the second half counts. */
export function pass(setting: Setting, perSecond: number, seconds: number): Outcome {
  const installation = new Installation(new Clock(1), setting);
  const { clock } = installation;
  const callers = function* (): Walk {
    for (;;) {
      yield clock.after((-Math.log(1 - clock.random()) / perSecond) * 1_000);
      begin(installation.send());
    }
  };
  begin(callers());
  clock.run(seconds * 500);
  return observe(installation, clock.now, () => clock.now >= seconds * 1_000);
}

/** Goes on until it is over. */
function observe(installation: Installation, from: number, isOver: () => boolean): Outcome {
  const { clock, database, broker, gateways } = installation;
  const busyMs = () => [
    gateways.reduce((sum, { thread }) => sum + thread.busyMs, 0),
    database.busyMs,
    broker.busyMs,
  ];
  const before = busyMs();
  while (!isOver()) clock.run(clock.now + 1);
  const tookMs = clock.now - from;
  const times = (of: 'accepted' | 'ended') => {
    const all = installation[of].filter(({ at }) => at > from).map(({ ms }) => ms);
    return [percentile(all, 0.5), percentile(all, 0.99)];
  };
  const count = installation.ended.filter(({ at }) => at > from).length;
  return {
    rate: (count / tookMs) * 1_000,
    accepted: times('accepted'),
    ended: times('ended'),
    busy: busyMs().map((ms, n) => (ms - (before[n] ?? 0)) / tookMs),
  };
}
