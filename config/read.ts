import { readFileSync } from 'node:fs';
import type { Environment } from './environment.ts';
import { ConfigError } from './error.ts';
import { loadConfig } from './load.ts';
import type { GatewayConfig } from './schema.ts';

/**
 * Reads the configuration of this process: the file that `GATEWAY_CONFIG` names, then the environment.
 * @throws ConfigError
 */
export function readConfig(env: Environment): GatewayConfig {
  const name = env.GATEWAY_CONFIG;
  if (name === undefined || name === '') return loadConfig({ env, file: null });
  let text: string;
  try {
    text = readFileSync(name, 'utf8');
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new ConfigError(
      'GATEWAY_CONFIG',
      `GATEWAY_CONFIG must name a JSON file that can be read, and ${name} cannot (${reason}).`,
    );
  }
  return loadConfig({ env, file: { name, text } });
}
