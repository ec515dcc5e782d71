import type { ConnectionOptions } from 'rabbitmq-client';

/** Options of a connection to the broker at an address. Pure. */
export function optionsOf(url: string): Pick<ConnectionOptions, 'url' | 'socket'> {
  const { hostname, port, protocol } = new URL(url);
  if (!hostname.startsWith('[')) return { url };
  // rabbitmq-client hands on an IPv6 host with its brackets, which is then looked up as a name.
  const usual = protocol === 'amqps:' ? 5671 : 5672;
  return { url, socket: { host: hostname.slice(1, -1), port: Number(port || usual) } };
}
