import type { Accounts } from '../../core/contracts/accounts.ts';
import { PacedLines } from '../../core/paced-lines.ts';
import type { Plans } from '../tenants/contract.ts';
import { ChannelDirectory } from './channel-access.ts';
import { Connections } from './connections.ts';
import { forgetContactCredentials } from './contact-credentials.ts';
import type { SessionListener, Sessions } from './contract.ts';
import { connectLane } from './lanes/connect.ts';
import { type ProxyInput, proxyLane } from './lanes/proxy.ts';
import { removeLane } from './lanes/remove.ts';
import { restrictLane } from './lanes/restrict.ts';
import { transitionLane } from './lanes/transition.ts';
import { undoLane } from './lanes/undo.ts';
import { CredentialCache, cachedCharacters } from './session/credential-cache.ts';
import type { SessionEnvironment } from './session/environment.ts';
import { SessionProcess } from './session/process.ts';
import { SessionDirectory } from './session-directory.ts';
import { StatusReporter } from './status-reporter.ts';

/** Dependencies of the accounts of one process. */
export interface AccountsOptions
  extends Omit<SessionEnvironment, 'lanes' | 'lines' | 'listeners' | 'credentialCache'> {
  readonly roles: readonly string[];
  readonly plans: Plans;
}

/** The accounts of one process, not started yet. */
export interface AssembledAccounts {
  readonly accounts: Pick<Accounts, 'restrictForSafety' | 'forget'>;
  readonly sessions: Sessions;
  readonly channels: ChannelDirectory;
  readonly connections: Connections;
  changeProxy(input: ProxyInput): Promise<boolean>;
  readonly process: SessionProcess;
}

/** Makes the accounts of one process. Called by the plugin, and by tests with clocks of their own. */
export function assembleAccounts(options: AccountsOptions): AssembledAccounts {
  const { roles, plans, ...environment } = options;
  const { storage, broker, clock, sealer, proxies, channels, settings, log, metrics } = environment;
  const listeners: SessionListener[] = [];
  const transitionParts = { listeners, reporter: new StatusReporter(log, metrics) };
  const restrict = restrictLane(transitionParts, broker);
  const lanes = {
    transition: transitionLane(transitionParts),
    connect: connectLane(transitionParts),
    undo: undoLane(transitionParts, proxies),
  };
  const credentialCache = new CredentialCache(cachedCharacters);
  const { requestTimeoutMs } = settings;
  const directory = new SessionDirectory({ storage, broker, clock, sealer, requestTimeoutMs });
  const remove = removeLane(transitionParts);
  const access = new ChannelDirectory(plans, channels);
  const changeProxy = proxyLane(broker);
  return {
    accounts: {
      restrictForSafety: (accountId, until) => storage.submit(restrict, { accountId, until }),
      forget: (tenantId, contact) =>
        forgetContactCredentials({ storage, sealer, channels, directory }, tenantId, contact),
    },
    sessions: { attach: (listener) => listeners.push(listener) },
    channels: access,
    changeProxy: (input) => storage.submit(changeProxy, input),
    connections: new Connections({
      storage,
      directory,
      channels: access,
      plans,
      remove,
      log,
    }),
    process: new SessionProcess(
      { ...environment, lanes, listeners, credentialCache, lines: new PacedLines() },
      roles,
    ),
  };
}
