import { join, resolve } from 'node:path';
import { StartRefusal } from '../../core/start-refusal.ts';
import { networkFolder } from '../compose-backup.ts';
import { embeddedDatabase } from '../embedded-database.ts';
import type { GatewayConfig } from '../schema.ts';
import { names } from './manifest.ts';

/** Where an embedded gateway keeps what a backup has. */
export interface DataPaths {
  readonly database: string;
  /** Of the simulated network; there is none where the network runs alone. */
  readonly network: string;
  /** Null: in a bucket. */
  readonly media: string | null;
}

/** @throws StartRefusal with a database server, whose own tools do it */
export function dataPathsOf(config: GatewayConfig): DataPaths {
  const { data_dir, media } = config;
  const database = embeddedDatabase(config);
  if (database === null) {
    throw new StartRefusal(
      'This is for the embedded database: mariadb-dump and mariadb do it for a server, as "Backups" in ' +
        'docs/production.md says.',
    );
  }
  return {
    database,
    network: join(networkFolder(resolve(data_dir)), names.network),
    media: media.s3.bucket === null ? resolve(media.directory, 'kept') : null,
  };
}
