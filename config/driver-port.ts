import type { DriverEvent, Port } from '../core/contracts/driver.ts';
import type { PacedLines } from '../core/paced-lines.ts';
import { asDriver, asGateway } from './driver-context.ts';
import { driverMedia, withMedia } from './driver-media.ts';
import { type EnterDriver, gatewaySignal } from './driver-signal.ts';
import { pacedLog } from './paced-log.ts';
import type { Suspect, Watch } from './stall-watch.ts';

/** Dependencies that the ports of one driver share. */
export interface PortParts {
  readonly watch: Watch;
  /** The driver's lines in the log. */
  readonly lines: PacedLines;
}

/**
 * The port that a driver from outside gets. Each call of the port runs as the gateway's own code.
 * @param suspect whose port it is
 * @param cut aborted when the driver is to be heard no more
 */
export function driverPort(
  port: Port,
  suspect: Suspect,
  { watch, lines }: PortParts,
  cut: AbortSignal,
): Port {
  const { credentials } = port;
  const ask = <Result>(call: () => Promise<Result>): Promise<Result> => {
    watch.runs(suspect);
    if (cut.aborted) return Promise.reject(new Error('the session is over'));
    // The driver's code goes on behind the answer.
    return asGateway(call).finally(() => watch.begins(suspect));
  };
  const enter: EnterDriver = (run) =>
    watch.call(suspect, 'open', () => asDriver(suspect.owner, run));
  const opened = (media: object) => driverMedia(media, enter);
  return {
    emit: (event) => {
      // The port checks what a driver emits.
      const taken = ask(async () => port.emit(withMedia(event, opened) as DriverEvent));
      // A driver need not read the outcome.
      taken.catch(() => undefined);
      return taken;
    },
    credentials: {
      get: (names) => ask(() => credentials.get(names)),
      set: (values) => ask(() => credentials.set(values)),
      clear: () => ask(() => credentials.clear()),
    },
    get proxy() {
      return port.proxy;
    },
    sentMessage: (reference) => ask(() => port.sentMessage(reference)),
    fetchMedia: (media, signal) => ask(() => port.fetchMedia(media, gatewaySignal(signal))),
    leftOut: (kind) => {
      watch.runs(suspect);
      asGateway(() => port.leftOut(kind));
    },
    log: pacedLog(port.log, lines),
  };
}
