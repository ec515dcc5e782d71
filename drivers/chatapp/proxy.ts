import { performHttpProxyHandshake, performSocksHandshake } from '@fuman/net';
import type { TelegramTransport } from '@mtcute/core';
import type { ProxyAddress } from '../../core/contracts/driver.ts';

export type Connection = Awaited<ReturnType<TelegramTransport['connect']>>;
export type Address = Parameters<TelegramTransport['connect']>[0];

/**
 * Has a proxy pass a connection on to a server. The library's own transports do that on a connection that they do not
 * close when the proxy refuses or says nothing.
 * @param connection to the proxy
 * @param withinMs how long the proxy may take
 * @throws when the proxy does not do it; the connection is closed then
 */
export async function passOn(
  connection: Connection,
  { protocol, host, port, username, password }: ProxyAddress,
  { ipAddress, port: serverPort }: Address,
  withinMs: number,
): Promise<void> {
  const settings = {
    ...{ host, port },
    ...(username === null ? {} : { user: username }),
    ...(password === null ? {} : { password }),
  };
  const server = { address: ipAddress, port: serverPort };
  const late = setTimeout(() => connection.close(), withinMs).unref();
  try {
    if (protocol === 'http')
      await performHttpProxyHandshake(connection, connection, settings, server);
    else await performSocksHandshake(connection, connection, { ...settings, version: 5 }, server);
  } catch (error) {
    connection.close();
    throw error;
  } finally {
    clearTimeout(late);
  }
}
