import type {
  DriverFault,
  DriverFaultKind,
  DriverFaults,
} from '../core/contracts/driver-faults.ts';
import type { Counter, Metrics } from '../core/contracts/metrics.ts';
import type { GatewayLog } from '../core/log.ts';
import { PacedLines } from '../core/paced-lines.ts';
import { driverAtWork } from './driver-context.ts';

const texts: Readonly<Record<DriverFaultKind, string>> = {
  threw: 'a driver threw what its contract does not allow',
  unhandled: 'a driver left an error to nobody',
  nonsense: 'a driver said what its contract does not know',
  hung: 'a driver does not come back',
  stalled: 'a driver kept its event loop from all other work',
};

/**
 * Counts each fault and names it in the log, with its channel and account: one line of each kind and channel a second.
 */
export class CountedDriverFaults implements DriverFaults {
  readonly #log: GatewayLog;
  readonly #lines = new Map<string, PacedLines>();
  readonly #counter: Counter<'gateway_driver_faults_total'>;

  constructor(log: GatewayLog, metrics: Pick<Metrics, 'counter'>) {
    this.#log = log;
    this.#counter = metrics.counter('gateway_driver_faults_total');
  }

  report({ kind, channel, accountId, call, error, ms }: DriverFault): void {
    this.#counter.add({ channel, kind });
    const lines = this.#lines.get(channel) ?? new PacedLines();
    this.#lines.set(channel, lines);
    const more = lines.take(kind);
    if (more === null) return;
    this.#log.error({ channel, account: accountId, call, ms, err: error, ...more }, texts[kind]);
  }
}

/**
 * Reports what drivers from outside leave behind: rejections nobody handled and exceptions nobody caught. The process
 * goes on after them; that they end it otherwise is decided where it starts.
 * @returns ends it
 */
export function takeStrayFaults(faults: DriverFaults): () => void {
  const take = (error: unknown): void => {
    const owner = driverAtWork();
    if (owner !== null) faults.report({ ...owner, kind: 'unhandled', call: 'later', error });
  };
  process.on('unhandledRejection', take);
  process.on('uncaughtException', take);
  return () => {
    process.off('unhandledRejection', take);
    process.off('uncaughtException', take);
  };
}
