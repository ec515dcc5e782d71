import { administer } from '../../config/commands/administer.ts';
import type { Executor } from '../../plugins/storage/executor.ts';
import { type Client, client } from './client.ts';
import type { TestDatabase } from './databases.ts';
import { generousLimits, type RunningGateway, runGateway } from './gateway.ts';
import type { Teardown } from './processes.ts';
import { openRows } from './rows.ts';

/** A tenant that a test made, with one client for each gateway of the fleet. */
export interface FleetTenant {
  readonly id: string;
  /** The client of the first gateway. */
  readonly api: Client;
  readonly clients: readonly Client[];
}

/** The gateways that work on one database: one on SQLite, two on MariaDB. */
export interface Fleet {
  readonly gateways: readonly RunningGateway[];
  readonly rows: Executor;
  /** Makes a test tenant on a plan, past the gateways, as the command line does. */
  tenant(plan: string, ramp?: boolean): Promise<FleetTenant>;
  /** Switches a feature on for a tenant, as the command line does. */
  enable(tenantId: string, feature: string): Promise<void>;
  /** Switches one off. */
  disable(tenantId: string, feature: string): Promise<void>;
}

/** Starts the gateways of an engine, which share database, secret and data folder. */
export async function runFleet(
  t: Teardown,
  engine: TestDatabase,
  settings: Readonly<Record<string, string>> = {},
): Promise<Fleet> {
  const database = await engine.create(t);
  const first = await runGateway(t, { databaseUrl: database.url, settings });
  const { dataDir, secret } = first;
  const shared = { ...settings, GATEWAY_SECRET: secret };
  const second = { databaseUrl: database.url, dataDir, settings: shared };
  const gateways = engine.name === 'sqlite' ? [first] : [first, await runGateway(t, second)];
  const env = {
    ...{ LOG_LEVEL: 'warn', ...generousLimits, ...shared },
    ...{ DATABASE_URL: database.url, DATA_DIR: dataDir },
  };
  const update = async (
    id: string,
    features: { readonly enable: readonly string[]; readonly disable: readonly string[] },
  ) => {
    const change = { id, plan: undefined, status: undefined, ...features };
    await administer({ name: 'tenants update', ...change }, env);
  };
  return {
    gateways,
    rows: openRows(t, database.url),
    enable: (id, feature) => update(id, { enable: [feature], disable: [] }),
    disable: (id, feature) => update(id, { enable: [], disable: [feature] }),
    async tenant(plan, ramp = false) {
      const name = `${plan}${ramp ? ' with a ramp' : ''}`;
      const tenant = { name, mode: 'test', plan, ramp } as const;
      const output = await administer({ name: 'tenants create', tenant }, env);
      // The JSON of the command, as decisions about the command line say.
      const made = output.json as {
        readonly tenant: { readonly id: string };
        readonly key: string;
      };
      const clients = gateways.map((gateway) => client(gateway.baseUrl, made.key));
      const [api] = clients;
      if (api === undefined) throw new Error('a fleet has a gateway');
      return { id: made.tenant.id, api, clients };
    },
  };
}
