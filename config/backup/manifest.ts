import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { StartRefusal } from '../../core/start-refusal.ts';

/** Names in a backup. */
export const names = {
  manifest: 'manifest.json',
  database: 'gateway.db',
  network: 'network.sqlite',
  media: 'media',
} as const;

const Manifest = Type.Object({
  format: Type.Literal(1),
  /** Of the gateway that made it. */
  version: Type.String(),
  created_at: Type.String(),
});

/** What a backup says of itself. */
export type Manifest = Type.Static<typeof Manifest>;

/**
 * Reads the manifest of a backup that is unpacked in a folder.
 * @throws StartRefusal when it is none of this gateway
 */
export function readManifest(folder: string, file: string): Manifest {
  try {
    const found: unknown = JSON.parse(readFileSync(join(folder, names.manifest), 'utf8'));
    if (Value.Check(Manifest, found)) return found;
  } catch {
    // As good as a manifest of another program.
  }
  throw new StartRefusal(`${file} is no backup that this gateway can read.`);
}
