import { makeMsgappWebDriver } from '../../../drivers/msgapp_web/driver.ts';
import type { Teardown } from '../../harness/processes.ts';
import { FakeNetwork } from '../../networks/msgapp_web/network.ts';

/**
 * The library leaves timers of half a minute behind that do nothing any more: they must not keep a test's
 * process. Whatever a test waits for has a socket that does.
 */
export function letLongTimersGo(): void {
  const wait = globalThis.setTimeout;
  const patient = (work: () => void, ms?: number, ...rest: []) => {
    const timer = wait(work, ms, ...rest);
    return (ms ?? 0) >= 10_000 ? timer.unref() : timer;
  };
  globalThis.setTimeout = Object.assign(patient, wait);
}

/** A fake network in this process, stopped when the test ends, and the options that lead a driver to it. */
export async function runNetwork(t: Teardown): Promise<{
  readonly network: FakeNetwork;
  readonly options: Readonly<Record<string, unknown>>;
}> {
  // Media go over TLS, and the test's own certificate can only be trusted from the start of a process.
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  letLongTimersGo();
  const network = await FakeNetwork.start();
  t.teardown(() => network.stop());
  const options = { websocket_url: network.url, root_public_key: network.rootPublicKey };
  return { network, options };
}

/** A driver that looks more often than a real network would like. */
export function hastyDriver(options: Readonly<Record<string, unknown>>) {
  return makeMsgappWebDriver({ options: { ...options, restriction_check_s: 0.2, probe_s: 0.5 } });
}
