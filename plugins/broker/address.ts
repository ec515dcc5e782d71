import type { ConnectionOptions } from 'rabbitmq-client';

/** Options of a connection to the broker at an address. Pure. */
export function brokerOptions(url: string): Pick<ConnectionOptions, 'url' | 'socket'> {
  const { hostname, port, protocol } = new URL(url);
  if (!hostname.startsWith('[')) return { url };
  // The brackets are part of the URL, not of the host: rabbitmq-client would look up `[::1]` as a name.
  const usual = protocol === 'amqps:' ? 5671 : 5672;
  return { url, socket: { host: hostname.slice(1, -1), port: Number(port || usual) } };
}
