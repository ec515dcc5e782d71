import { normalize } from 'node:path';
import { ConfigError } from './error.ts';
import type { GatewayConfig } from './schema.ts';

/** Refuses folders below /proc, where Node.js tries to make one for ever. @throws ConfigError that names the first */
export function refuseFoldersOfKernel(config: GatewayConfig): void {
  const { data_dir, database_url, media } = config;
  const folders = {
    'data_dir (DATA_DIR)': data_dir,
    'database_url (DATABASE_URL)': database_url.replace(/^sqlite:/, ''),
    'media.directory (GATEWAY_MEDIA__DIRECTORY)': media.directory,
  };
  for (const [name, path] of Object.entries(folders)) {
    if (!/^\/proc(\/|$)/.test(normalize(path))) continue;
    const message = `${name} is below /proc, where no folder can be made: name one on a disk.`;
    throw new ConfigError(name.split(' ')[0] ?? name, message);
  }
}
