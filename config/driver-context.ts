import { AsyncLocalStorage } from 'node:async_hooks';

/** The driver whose code runs. */
export interface CodeOwner {
  readonly channel: string;
  readonly accountId: string | null;
}

const atWork = new AsyncLocalStorage<CodeOwner>();

/** Runs code of a driver from outside: whatever that starts counts as the driver's from then on. */
export function asDriver<Result>(owner: CodeOwner, run: () => Result): Result {
  return atWork.run(owner, run);
}

/** Runs code of the gateway that such a driver calls: it does not count as the driver's. */
export function asGateway<Result>(run: () => Result): Result {
  return atWork.exit(run);
}

/** The driver whose code runs, or has left the exception or rejection that nobody handled; null: the gateway's own. */
export function driverAtWork(): CodeOwner | null {
  return atWork.getStore() ?? null;
}
