import { EventEmitter } from 'node:events';
import type { ClientRequest } from 'node:http';
import type { Agent } from 'node:https';
import { SocksProxyAgent } from 'socks-proxy-agent';
import type { buildConnector } from 'undici';
import { type ProxyAddress, proxyUrl } from '../../core/contracts/driver.ts';
import { downloadOptions } from './download-options.ts';
import { HttpTunnels } from './http-tunnels.ts';
import type { Library } from './library.ts';

/** How long a proxy of HTTP may take to pass a connection on, in milliseconds. */
const usualWithinMs = 20_000;

/**
 * The library, with every connection through a proxy: web socket, uploads and downloads. Names of the network's hosts
 * are looked up by the proxy.
 * @param withinMs how long a proxy of HTTP may take for each
 */
export function proxied(library: Library, proxy: ProxyAddress, withinMs = usualWithinMs): Library {
  const agent = agentThrough(proxy, withinMs);
  const { streamed, whole } = downloadOptions(connector(agent));
  return {
    ...library,
    makeWASocket: (config) =>
      library.makeWASocket({
        ...config,
        agent: ofNode(agent),
        // Its own: it ends with the socket.
        fetchAgent: ofNode(agentThrough(proxy, withinMs)),
        options: whole,
      }),
    downloadContentFromMessage: (fields, type, given = {}) =>
      library.downloadContentFromMessage(fields, type, { ...given, options: streamed }),
    downloadAndProcessHistorySyncNotification: (notification, given, log) =>
      library.downloadAndProcessHistorySyncNotification(
        notification,
        { ...given, ...streamed },
        log,
      ),
  };
}

type ProxyAgent = HttpTunnels | SocksProxyAgent;

/** An agent of Node.js, which the packages type by the socket that they give it. */
function ofNode(agent: ProxyAgent): Agent {
  return agent as unknown as Agent;
}

function agentThrough(proxy: ProxyAddress, withinMs: number): ProxyAgent {
  if (proxy.protocol === 'http') return new HttpTunnels(proxy, withinMs);
  const url = proxyUrl(proxy, true).replace('socks5:', 'socks5h:');
  const agent = new SocksProxyAgent(url);
  // The package keeps the brackets of an IPv6 address, under which nothing is found.
  agent.proxy.host = proxy.host;
  return agent;
}

/** Connects `fetch` as the web socket is connected. Undici's own proxies connect again for ever to one that hangs up. */
function connector(agent: ProxyAgent): buildConnector.connector {
  const connect = async ({ hostname, port, protocol, servername }: buildConnector.Options) =>
    // The packages use the request as an emitter alone.
    await agent.connect(new EventEmitter() as ClientRequest, {
      host: hostname,
      port: Number(port || 443),
      secureEndpoint: protocol === 'https:',
      servername: servername ?? hostname,
    });
  return (options, done) => {
    connect(options).then(
      (socket) => done(null, socket),
      (error) => done(error, null),
    );
  };
}
