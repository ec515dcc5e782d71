import { administer } from '../../config/commands/administer.ts';
import type { SimulatedControl } from '../../drivers/simulated/control.ts';
import { client } from '../harness/client.ts';
import { generousLimits, runGateway } from '../harness/gateway.ts';
import { freePort } from '../harness/ports.ts';
import { startProcess } from '../harness/processes.ts';
import { pair, phoneNumber, until } from '../harness/story.ts';
import type { BenchRun } from './bench.ts';
import { type Follower, follow } from './follower.ts';
import { benchNetwork } from './network.ts';
import { contactPhone } from './seed.ts';
import { type BenchServers, benchServers } from './servers.ts';

/** Each with one phone and one client that follows its cursor: as many as there are connections that write. */
const tenants = 14;
const contacts = 100;

/** A message that a contact writes. */
export interface Written {
  /** Resolves once the network has it. */
  readonly taken: Promise<unknown>;
  /** Resolves once the tenant's client sees it, with the time on the monotonic clock. */
  readonly seen: Promise<number>;
}

/** One of the two that receive, with its clients. */
export interface Side {
  /** The next contact writes to the next tenant. */
  write(): Written;
  /** Rejects as soon as a client was shown something twice, or what nobody wrote. */
  unlessFailed<Value>(work: Promise<Value>): Promise<Value>;
}

/** What differs between the sides. Networks and keys are the tenants', in the order of their phones. */
interface Receiving {
  readonly origin: string;
  readonly networks: readonly string[];
  readonly keys: readonly string[];
}

/** Starts the gateway and the floor on one database and one simulated network, with their clients. */
export async function startSides(run: BenchRun): Promise<readonly [Side, Side]> {
  const servers = await benchServers(run, 'mariadb');
  const { url, control } = await benchNetwork(run);
  const gateway = await startReceivingGateway(run, servers, url);
  const floor = await startFloor(run, servers, url, control);
  return [await sideOf(run, control, gateway), await sideOf(run, control, floor)];
}

async function startReceivingGateway(
  run: BenchRun,
  { databaseUrl, broker }: BenchServers,
  network: string,
): Promise<Receiving> {
  const settings = { ...broker, SIMULATED_NETWORK_URL: network };
  const gateway = await runGateway(run, { databaseUrl, settings });
  const { dataDir, secret } = gateway;
  const own = { DATABASE_URL: databaseUrl, DATA_DIR: dataDir, GATEWAY_SECRET: secret };
  const env = { ...own, LOG_LEVEL: 'warn' };
  const made: { readonly id: string; readonly key: string }[] = [];
  for (let n = 0; n < tenants; n += 1) {
    const tenant = { name: `Tenant ${n}`, mode: 'test', plan: 'growth', ramp: false } as const;
    const output = await administer(
      { name: 'tenants create', tenant },
      { ...generousLimits, ...env },
    );
    // What the command line prints with --json.
    const { tenant: found, key } = output.json as { tenant: { id: string }; key: string };
    made.push({ id: found.id, key });
    await pair(client(gateway.baseUrl, key), phoneNumber(n));
  }
  return {
    origin: new URL(gateway.baseUrl).origin,
    networks: made.map(({ id }) => id),
    keys: made.map(({ key }) => key),
  };
}

async function startFloor(
  run: BenchRun,
  { databaseUrl }: BenchServers,
  network: string,
  control: SimulatedControl,
): Promise<Receiving> {
  const phones = Array.from({ length: tenants }, (_, n) => phoneNumber(n));
  const port = String(await freePort());
  const floor = startProcess(run, ['test/bench/floors/receive.ts'], {
    DATABASE_URL: databaseUrl,
    SIMULATED_NETWORK_URL: network,
    PHONES: phones.join(),
    PORT: port,
  });
  await floor.waitFor(/listening/);
  for (const phone of phones) {
    await until(`${phone} to be scanned`, async () => {
      const scan = await control.scan({ network: 'floor', channel: 'msgapp_web', phone });
      return 'value' in scan ? true : undefined;
    });
  }
  return {
    origin: `http://127.0.0.1:${port}`,
    networks: phones.map(() => 'floor'),
    keys: phones,
  };
}

async function sideOf(
  run: BenchRun,
  control: SimulatedControl,
  { origin, networks, keys }: Receiving,
): Promise<Side> {
  const unseen = new Map<string, (at: number) => void>();
  const onText = (text: string): void => {
    const see = unseen.get(text);
    if (see === undefined) throw new Error(`seen twice, or never written: "${text}"`);
    unseen.delete(text);
    see(performance.now());
  };
  const followers: Follower[] = [];
  for (const key of keys) followers.push(await follow(run, { origin, key, onText }));
  const failed = followers.map((follower) => follower.failed);
  let written = 0;
  return {
    write() {
      written += 1;
      const text = `Where is my order ${written}?`;
      const seen = new Promise<number>((resolve) => unseen.set(text, resolve));
      const place = written % tenants;
      const from = { phone: contactPhone((written * 7) % contacts), name: 'Ada' };
      const network = networks[place] ?? '';
      const to = { network, channel: 'msgapp_web', phone: phoneNumber(place) };
      const taken = control.inbound(to, { from, text, media_url: null, network_id: null });
      return { seen, taken };
    },
    unlessFailed: (work) => Promise.race([work, ...failed]),
  };
}
