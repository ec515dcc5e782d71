import { AsyncLocalStorage } from 'node:async_hooks';

/** Whose code it is that runs. */
export interface DriverPlace {
  readonly channel: string;
  readonly accountId: string | null;
}

const atWork = new AsyncLocalStorage<DriverPlace>();

/** Runs code of a driver from outside: what it starts and leaves behind is known as its own from then on. */
export function asDriver<Result>(place: DriverPlace, run: () => Result): Result {
  return atWork.run(place, run);
}

/** Runs what such a driver calls of the gateway: not the driver's own any more. */
export function asGateway<Result>(run: () => Result): Result {
  return atWork.exit(run);
}

/** The driver whose code runs, or has left the exception or rejection that nobody handled; null: the gateway's own. */
export function driverAtWork(): DriverPlace | null {
  return atWork.getStore() ?? null;
}
