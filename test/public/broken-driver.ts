/**
 * Runs the contract suite on the driver of the guide with three faults: the first loss of a connection is not reported,
 * it declares proxies that it does not use, and a credential is in a field of an error that it logs.
 */
export const brokenDriver = `
import { driverContract } from 'messaging-gateway/testing';
import t from 'tap';
import makeIrcDriver from './built/driver.js';
import { IrcWorld } from './built/world.js';

const server = { host: '127.0.0.1', port: Number(process.env.IRC_PORT), tls: false, password: '' };
const world = new IrcWorld(server);
t.teardown(() => world.close());
const options = { ...server, port: await world.wire.listen(), channels: ['#help'] };
let isSwallowed = false;
let isSaid = false;

/** Logs a credential that is JSON, beside what no driver is blamed for. */
async function gossip({ credentials, log }) {
  const session = JSON.stringify({ key: 'a "secret" of the session' });
  await credentials.set({ session, greeted: '', joined: 'true' });
  const err = Object.assign(new Error('no'), { config: { data: session } });
  log.info({ err, self: err }, 'refused');
  const facts = { joined: true };
  log.debug(Object.assign(facts, { facts }), 'joined');
}

/** A port of which the driver does not tell one loss. */
function deaf(port) {
  const { credentials, log } = port;
  return {
    credentials,
    log,
    leftOut: (kind) => port.leftOut(kind),
    async emit(event) {
      const isFault = !isSwallowed && event.state === 'lost';
      isSwallowed ||= isFault;
      if (event.state === 'connected' && !isSaid) {
        isSaid = true;
        await gossip(port);
      }
      if (!isFault) await port.emit(event);
    },
  };
}

await driverContract(t, {
  name: 'broken',
  makeDriver(context) {
    const driver = makeIrcDriver({ ...context, options });
    const capabilities = { ...driver.capabilities, proxies: true };
    return { ...driver, capabilities, open: (account, port) => driver.open(account, deaf(port)) };
  },
  world,
});
`;
