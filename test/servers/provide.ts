import { writeFileSync } from 'node:fs';
import { type ServerName, variables } from './borrow.ts';
import { canInstall, install } from './install.ts';
import { hasMariadb, startMariadb } from './mariadb.ts';
import { hasRabbitmq, startRabbitmq } from './rabbitmq.ts';
import type { RunningCommand } from './server.ts';

const kinds = {
  mariadb: { package: 'mariadb-server', isInstalled: hasMariadb, start: startMariadb },
  rabbitmq: { package: 'rabbitmq-server', isInstalled: hasRabbitmq, start: startRabbitmq },
} as const;

interface Started {
  readonly url: string;
  readonly running: readonly RunningCommand[];
}

/** The private servers of a run: each is started once, when it is first asked for. */
export class Provider {
  readonly #file: string;
  readonly #urls = new Map<ServerName, Promise<string>>();
  readonly #started = new Map<ServerName, Started>();
  #installed: Promise<void> = Promise.resolve();

  /** `file` is where to note the pids and commands of what was started. */
  constructor(file: string) {
    this.#file = file;
  }

  /**
   * Resolves with the url once the server answers; its programs are installed first if need be.
   * @throws if programs are missing and cannot be installed here; the message says what to do.
   */
  provide(name: ServerName): Promise<string> {
    const url = this.#urls.get(name) ?? this.#start(name);
    this.#urls.set(name, url);
    return url;
  }

  /** Resolves when nothing is being started: all that runs is in the file. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#urls.values());
  }

  async #start(name: ServerName): Promise<string> {
    // Two installations at once would trip over each other.
    const installed = this.#installed.then(() => installMissing(name));
    this.#installed = installed.catch(() => {});
    await installed;
    const { url, running } = await kinds[name].start();
    this.#started.set(name, { url, running });
    writeFileSync(this.#file, JSON.stringify(Object.fromEntries(this.#started), null, 2));
    return url;
  }
}

/** Whether the run can provide a server of this name. */
export function isServerName(name: string): name is ServerName {
  return Object.hasOwn(kinds, name);
}

async function installMissing(name: ServerName): Promise<void> {
  const kind = kinds[name];
  if (kind.isInstalled()) return;
  if (!canInstall()) {
    throw new Error(
      `The tests need ${kind.package}: install it so that its programs are in the PATH, or set ` +
        `${variables[name]} to a server that the tests may use.`,
    );
  }
  console.error(`Installing ${kind.package} for the tests…`);
  await install([kind.package]);
}
