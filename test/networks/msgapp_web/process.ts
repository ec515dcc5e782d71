import { startProcess, type Teardown } from '../../harness/processes.ts';
import { controlOf, type NetworkControl, type NetworkPlaces } from './control.ts';
import { mediaCertificate } from './media-host.ts';

/** A fake network in a process of its own, which outlives any gateway. */
export interface NetworkProcess {
  readonly network: NetworkControl;
  readonly places: NetworkPlaces;
  /** What leads a gateway there. */
  readonly settings: Readonly<Record<string, string>>;
  /** What the process has printed. */
  output(): string;
}

/** Starts one; killed when the test ends. */
export async function startNetwork(t: Teardown): Promise<NetworkProcess> {
  const trusting = { NODE_EXTRA_CA_CERTS: mediaCertificate };
  const started = startProcess(t, ['test/networks/msgapp_web/main.ts'], trusting);
  const [line = ''] = await started.waitFor(/^\{.*\}$/m);
  const places: NetworkPlaces = JSON.parse(line);
  return {
    network: controlOf(places.control),
    places,
    settings: {
      ...trusting,
      MSGAPP_WEB_SOCKET_URL: places.url,
      MSGAPP_WEB_ROOT_PUBLIC_KEY: places.rootPublicKey,
    },
    output: () => started.output,
  };
}
