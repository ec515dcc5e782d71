import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where a network that a gateway started can be reached, as `running.json` in its folder says. */
export interface Running {
  readonly port: number;
  readonly pid: number;
  /** What the network that listens there must answer to be the one that is meant. */
  readonly instance: string;
}

/** The network's own folder inside the data folder. */
export function networkFolder(dataDir: string): string {
  return join(dataDir, 'simulated-network');
}

/** The secret that a network asks its peers for; null while its folder has none. */
export function readSecret(folder: string): string | null {
  try {
    return readFileSync(join(folder, 'secret'), 'utf8');
  } catch {
    return null;
  }
}

/** The secret of the folder, made if there is none: who may read the folder may use the network. */
export function secretOf(folder: string): string {
  const known = readSecret(folder);
  if (known !== null) return known;
  const made = join(folder, `secret.${process.pid}`);
  writeFileSync(made, randomBytes(32).toString('base64url'), { mode: 0o600 });
  try {
    // Linked under its name, so that nobody reads half of it and the first of two that start at once wins.
    linkSync(made, join(folder, 'secret'));
  } catch (error) {
    if (readSecret(folder) === null) throw error;
  } finally {
    rmSync(made);
  }
  return readFileSync(join(folder, 'secret'), 'utf8');
}

/** Announces a network. Only the one that has the store open may. */
export function writeRunning(folder: string, running: Running): void {
  const file = join(folder, `running.${running.pid}`);
  // Renamed, so that nobody reads half of it; private, since its content is the key to the network.
  writeFileSync(file, JSON.stringify(running), { mode: 0o600 });
  renameSync(file, join(folder, 'running.json'));
}

/** The network that was last announced, dead or alive; null when there is none. */
export function readRunning(folder: string): Running | null {
  try {
    const { port, pid, instance } = JSON.parse(readFileSync(join(folder, 'running.json'), 'utf8'));
    return { port: Number(port), pid: Number(pid), instance: String(instance) };
  } catch {
    return null;
  }
}

/** Whether the announcement of this network is still current. */
export function isCurrent(folder: string, { instance }: Running): boolean {
  return readRunning(folder)?.instance === instance;
}

/** Takes the announcement of this network back. */
export function removeRunning(folder: string, running: Running): void {
  if (isCurrent(folder, running)) rmSync(join(folder, 'running.json'), { force: true });
}
