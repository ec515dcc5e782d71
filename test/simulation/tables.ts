import { costs } from './costs.ts';
import type { Setting } from './installation.ts';
import { drain, pass } from './simulate.ts';

/** The machine of the bench: two cores for everything. */
export const bench: Setting = {
  ...{ accounts: 16, hasSessions: true, tenants: 1, gateways: 1, driverMs: 0 },
  ...{ machineCores: 2, databaseCores: 2, brokerCores: 2 },
  ...{ roundTripMs: 0, durableMs: 0.2, networkMs: 0, receiverMs: 0 },
};
const unconnected = { ...bench, hasSessions: false };

/** An installation of this size and load, on machines of its own. */
export interface Scale
  extends Pick<
    Setting,
    'accounts' | 'tenants' | 'gateways' | 'databaseCores' | 'brokerCores' | 'driverMs'
  > {
  readonly messagesPerSecond: number;
}

/** Machines in one place, on ordinary disks; networks that answer after 0.1 s, receivers after 50 ms. */
export const own = {
  machineCores: null,
  roundTripMs: 0.3,
  durableMs: 1,
  networkMs: 100,
  receiverMs: 50,
};

/** Processor time of a message of `msgapp_web` beside what the simulated driver takes. */
const msgappMs = 5.5;

/** What is simulated unless arguments say otherwise: as many gateways as hold the sessions, and a fifth more. */
export const usual: Scale = {
  ...{ accounts: 10_000, tenants: 100, messagesPerSecond: 1_000, driverMs: 0 },
  ...{ gateways: 12, databaseCores: 4, brokerCores: 2 },
};
const small = { accounts: 1_000, tenants: 10, messagesPerSecond: 100 };
const large = { accounts: 30_000, tenants: 300, messagesPerSecond: 3_000 };
const largest = { accounts: 100_000, tenants: 1_000, messagesPerSecond: 10_000 };
const scales: readonly Scale[] = [
  { ...usual, ...small, gateways: 2, databaseCores: 2, brokerCores: 1 },
  usual,
  { ...usual, driverMs: msgappMs, gateways: 16 },
  { ...usual, tenants: 1 },
  { ...usual, ...large, gateways: 36, databaseCores: 12, brokerCores: 4 },
  { ...usual, ...largest, gateways: 120, databaseCores: 40, brokerCores: 32 },
];

/** The service times. */
export function costTable(): string {
  const rows = Object.values(costs).map(({ ms, of, from }) => [of, `${ms} ms`, from]);
  return table(['processor time of', 'each', 'from'], rows);
}

/** What the bench measures, as docs/benchmarks.md says it, beside what is simulated of it. */
export function comparisonTable(): string {
  const half = pass(bench, 500, 6);
  const halfMs = half.busy.map((cores) => (cores * 1_000) / half.rate);
  const compared: readonly (readonly [what: string, measured: number, simulated: number])[] = [
    ['`accept`, 64 clients, a second', 5_470, drain(unconnected, 64, 6_000).rate],
    ['`accept`, 1 client, a second', 790, drain(unconnected, 1, 800).rate],
    ['`through`, 64 clients, a second', 1_000, drain(bench, 64, 800).rate],
    ['`through`, 500 a second, gateway, ms each', 1.6, halfMs[0] ?? 0],
    ['`through`, 500 a second, database, ms each', 1.35, halfMs[1] ?? 0],
  ];
  const rows = compared.map(([what, measured, simulated]) => {
    const error = Math.round((simulated / measured - 1) * 100);
    return [what, short(measured), short(simulated), `${error} %`];
  });
  return table(['bench', 'measured', 'simulated', 'error'], rows);
}

/** What installations do with their loads. */
export function scaleTable(of: readonly Scale[] = scales): string {
  const rows = of.map(({ messagesPerSecond, ...scale }) => {
    const { accounts, tenants, gateways, databaseCores, brokerCores, driverMs } = scale;
    const seconds = Math.max(1.6, 2_000 / messagesPerSecond);
    const { rate, accepted, ended, busy } = pass(
      { ...bench, ...own, ...scale },
      messagesPerSecond,
      seconds,
    );
    const cores = [gateways, databaseCores, brokerCores];
    const shares = cores.map((all, n) => (busy[n] ?? 0) / all);
    return [
      ...[accounts, tenants, messagesPerSecond, driverMs].map((n) => n.toLocaleString('en')),
      ...cores.map((all, n) => `${all}: ${Math.round(100 * (shares[n] ?? 0))} %`),
      ...[accepted, ended].map((times) => times.map(short).join(' / ')),
      rate < 0.9 * messagesPerSecond || shares.some((share) => share > 0.99) ? 'no' : 'yes',
    ];
  });
  const titles = ['accounts', 'tenants', 'messages a second', 'driver ms', 'gateways: busy'];
  const times = ['202, ms', 'last event, ms', 'keeps up'];
  return table([...titles, 'database cores: busy', 'broker cores: busy', ...times], rows);
}

function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(titles), `|${'---|'.repeat(titles.length)}`, ...rows.map(line)].join('\n');
}

function short(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString('en');
}
