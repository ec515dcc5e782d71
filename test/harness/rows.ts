import { createLog } from '../../core/log.ts';
import { withTimeout } from '../../core/waiting.ts';
import { connect } from '../../plugins/storage/connection.ts';
import { Executor } from '../../plugins/storage/executor.ts';
import type { Teardown } from './processes.ts';

/** Reads a gateway's tables past the gateway, the same way on both engines; closed when the test ends. */
export function openRows(t: Teardown, databaseUrl: string): Executor {
  const connections = connect(databaseUrl, createLog('silent'));
  t.teardown(() => withTimeout(60_000, 'closing the connections to the rows', connections.close()));
  return new Executor(connections.read, connections.dialect);
}
