import { type GatewayLog, setLogLevel } from '../../core/log.ts';

/**
 * Lets SIGUSR2 change the level of the log while the gateway runs: the first one to `debug`, the next one back to the
 * level that is configured, and so on. Windows has no such signal.
 */
export function toggleLogLevel(log: GatewayLog): void {
  const configured = log.level;
  let isDebug = false;
  process.on('SIGUSR2', () => {
    isDebug = !isDebug;
    const level = isDebug ? 'debug' : configured;
    // Said at the level that shows more.
    if (isDebug) setLogLevel(log, level);
    log.info({ level }, 'the level of the log has changed');
    if (!isDebug) setLogLevel(log, level);
  });
}
