import { relative, resolve } from 'node:path';
import type { Addresses } from '../addresses.ts';

/** What a start tells the person who started it. */
interface StartReport {
  /** Null when the start failed after keys had been made. */
  readonly addresses: Addresses | null;
  /** The keys that this start generated; null where the tenant was there already, or its key was preset. */
  readonly keys: { readonly live: string | null; readonly test: string | null };
  /** As set; shown in full, as a relative one follows the working directory. */
  readonly dataDir: string;
}

/** The text for a person, at the start: where everything is, and the keys that were made, or how to make one. */
export function banner({ addresses, keys, dataDir }: StartReport): string {
  const hasKeys = keys.live !== null || keys.test !== null;
  if (addresses === null && !hasKeys) return '';
  const lines = [
    ['Base URL', addresses?.baseUrl],
    ['MCP URL', addresses?.mcpUrl],
    ['Docs URL', addresses?.docsUrl],
    ['Console URL', addresses?.consoleUrl],
    ['Data folder', resolve(dataDir)],
    ['Live API key', keys.live],
    ['Test API key', keys.test],
  ];
  const shown = lines
    .filter(([, value]) => value != null)
    .map(([name, value]) => `  ${`${name}:`.padEnd(14)}${value}`);
  return [
    '',
    addresses === null
      ? 'The first keys were made before the start failed:'
      : 'The messaging gateway is ready.',
    '',
    ...shown,
    '',
    ...(hasKeys ? [aboutNewKeys] : []),
    `Further keys:  ${command()} tenants list`,
    `               ${command()} keys create --tenant TENANT_ID`,
    '',
    '',
  ].join('\n');
}

const aboutNewKeys =
  'The keys are shown only this once. Sign in to the console with the test key: its network is simulated.';

/** What to type before a command: npm's script where npm started this, else the program as it was started. */
function command(): string {
  const [, program = ''] = process.argv;
  if (process.env.npm_lifecycle_event !== undefined) return 'npm run gateway --';
  return `node ${relative('', program)}`;
}
