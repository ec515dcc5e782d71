import type { Addresses } from '../addresses.ts';

/** The keys that a start generated; null where the tenant was there already, or its key was preset. */
interface Keys {
  readonly live: string | null;
  readonly test: string | null;
}

/** The text for a newcomer, printed by the first start only; empty when this start generated no keys. */
export function banner(addresses: Addresses | null, keys: Keys): string {
  if (keys.live === null && keys.test === null) return '';
  const lines = [
    ['Base URL', addresses?.baseUrl],
    ['MCP URL', addresses?.mcpUrl],
    ['Docs URL', addresses?.docsUrl],
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
    'The keys are shown only this once. Start with the docs; a test key works on a simulated network.',
    '',
    '',
  ].join('\n');
}
