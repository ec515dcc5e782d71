import { createServer, type Server } from 'node:http';
import { json } from 'node:stream/consumers';
import type { FakeNetwork } from './network.ts';

/** The calls by which a test in another process plays the network. */
const calls = [
  'scan',
  'typeCode',
  'offerCodes',
  'refuseLogins',
  'takeOnly',
  'heard',
  'setReachable',
  'setNetworkReachable',
  'logins',
  'logInsSince',
  'provision',
  'drop',
  'close',
  'unlink',
  'replace',
  'block',
  'refuse',
  'impersonate',
  'lockNewContacts',
  'exhaustQuota',
  'refuseAddresses',
  'refuseFiles',
  'wantTokens',
  'reinstall',
  'addDevice',
  'loseKeys',
  'treatSends',
  'followWith',
  'deafen',
  'holdAddressBook',
  'remove',
  'renumber',
  'lookUps',
  'ratchets',
  'delayKeys',
  'resend',
  'saveContact',
  'changeSettingsKey',
  'shareSettingsKey',
  'call',
  'setPast',
  'write',
  'writeAtOnce',
  'measure',
  'release',
  'measuredCount',
  'measuredSends',
  'report',
  'askAgain',
  'shown',
  'typed',
  'waiting',
  'devices',
] as const satisfies readonly (keyof FakeNetwork)[];

/** The fake network as it is played from another process. */
export type NetworkControl = Pick<FakeNetwork, (typeof calls)[number]>;

/** What the process says when it is ready. */
export interface NetworkPlaces {
  /** Where the protocol is spoken. */
  readonly url: string;
  readonly rootPublicKey: string;
  /** Where it is played. */
  readonly control: string;
  /** Where it keeps files: host and port. */
  readonly media: string;
}

/** Serves the calls: `POST /NAME` with the arguments as a JSON list, answered with the result as JSON. */
export async function serveControl(
  network: FakeNetwork,
): Promise<{ readonly server: Server; readonly url: string }> {
  // A client whose process is busy would meet a connection that is just being closed.
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    const answer = async (): Promise<unknown> => {
      const name = calls.find((call) => request.url === `/${call}`);
      if (name === undefined) throw new Error(`no such call: ${request.url}`);
      const values: unknown = await json(request);
      // The only client is `controlOf`, whose calls have the same types.
      const call = network[name] as (...values: unknown[]) => Promise<unknown>;
      return await call.apply(network, Array.isArray(values) ? values : []);
    };
    answer().then(
      (value) => response.end(JSON.stringify({ value: value ?? null })),
      (error: unknown) => {
        response.writeHead(500).end(error instanceof Error ? error.message : String(error));
      },
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no address');
  return { server, url: `http://127.0.0.1:${address.port}` };
}

/** A network in another process. */
export function controlOf(url: string): NetworkControl {
  const one =
    (name: string) =>
    async (...values: unknown[]) => {
      const response = await fetch(`${url}/${name}`, {
        method: 'POST',
        body: JSON.stringify(values),
      });
      if (!response.ok) throw new Error(`${name}: ${await response.text()}`);
      return ((await response.json()) as { value: unknown }).value;
    };
  // Each call has the name, arguments and result of the network's own.
  return Object.fromEntries(calls.map((name) => [name, one(name)])) as unknown as NetworkControl;
}
