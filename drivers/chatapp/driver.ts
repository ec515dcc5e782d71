import type { Driver, DriverCapabilities, DriverContext } from '../../core/contracts/driver.ts';
import { LocalSessions } from './local-sessions.ts';
import { chatappOptions } from './options.ts';
import { type Timing, usualTiming } from './timing.ts';

const capabilities: DriverCapabilities = {
  deduplicates: true,
  window: 8,
  // The network tells that a message was read, never that it was delivered.
  receipts: 'read',
  readsOnly: true,
  recipients: 'contacts',
  linkMethods: ['code', 'qr'],
  imports: { contacts: true, history: false },
  media: true,
  proxies: true,
};

/**
 * The driver of the `chatapp` channel. Called once at start; loads the library that speaks the network's protocol,
 * which takes half a second, only where the options are right.
 * @param timing tests shorten it
 * @throws Error when an option is missing or wrong, which leaves the channel off
 */
export async function makeChatappDriver(
  { options }: Pick<DriverContext, 'options'>,
  timing: Timing = usualTiming,
): Promise<Driver> {
  const shared = { options: chatappOptions(options), timing, localSessions: new LocalSessions() };
  const [{ ChatappSession }, { credentialsOf }] = await Promise.all([
    import('./session.ts'),
    import('./memory.ts'),
  ]);
  return {
    capabilities,
    credentialsOf,
    open: (account, port) => new ChatappSession(shared, account, port),
  };
}
