import type {
  DriverFault,
  DriverFaultKind,
  DriverFaults,
} from '../core/contracts/driver-faults.ts';
import { driverAtWork } from '../core/driver-context.ts';
import type { GatewayLog } from '../core/log.ts';

const texts: Readonly<Record<DriverFaultKind, string>> = {
  threw: 'a driver threw what its contract does not allow',
  unhandled: 'a driver left an error to nobody',
  nonsense: 'a driver said what its contract does not know',
  hung: 'a driver does not come back',
};

/** Where a counter of faults comes from: as much of the metrics as is needed. */
export interface FaultCounters {
  counter(description: {
    readonly name: string;
    readonly help: string;
    readonly labels: readonly ('channel' | 'kind')[];
  }): { add(labels: Readonly<Record<'channel' | 'kind', string>>): void };
}

/** Names each fault in the log, with its channel and account, and counts it. */
export class CountedDriverFaults implements DriverFaults {
  readonly #log: GatewayLog;
  readonly #counter: ReturnType<FaultCounters['counter']>;

  constructor(log: GatewayLog, metrics: FaultCounters) {
    this.#log = log;
    this.#counter = metrics.counter({
      name: 'gateway_driver_faults_total',
      help: 'Breaches of the driver contract, by channel and kind.',
      labels: ['channel', 'kind'],
    });
  }

  report({ kind, channel, accountId, call, error }: DriverFault): void {
    this.#counter.add({ channel, kind });
    this.#log.error({ channel, account: accountId, call, err: error }, texts[kind]);
  }
}

/**
 * Reports what drivers from outside leave behind: rejections nobody handled and exceptions nobody caught. The process
 * goes on after them; that they end it otherwise is decided where it starts.
 * @returns ends it
 */
export function takeStrayFaults(faults: DriverFaults): () => void {
  const take = (error: unknown): void => {
    const place = driverAtWork();
    if (place !== null) faults.report({ ...place, kind: 'unhandled', call: 'later', error });
  };
  process.on('unhandledRejection', take);
  process.on('uncaughtException', take);
  return () => {
    process.off('unhandledRejection', take);
    process.off('uncaughtException', take);
  };
}
