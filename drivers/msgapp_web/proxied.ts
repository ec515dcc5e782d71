import { EventEmitter } from 'node:events';
import type { ClientRequest } from 'node:http';
import type { Agent } from 'node:https';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { SocksProxyAgent } from 'socks-proxy-agent';
import type { buildConnector } from 'undici';
import { type ProxyAddress, proxyUrl } from '../../core/contracts/driver.ts';
import { downloadOptions } from './download-options.ts';
import type { Library } from './library.ts';

/**
 * The library, with every connection through a proxy: web socket, uploads and downloads. Names of the network's hosts
 * are looked up by the proxy.
 */
export function proxied(library: Library, proxy: ProxyAddress): Library {
  const through = agentThrough(proxy);
  // An agent of Node.js, which the packages type by the socket that they give it.
  const agent = through as unknown as Agent;
  const { streamed, whole } = downloadOptions(connector(through));
  return {
    ...library,
    makeWASocket: (config) =>
      library.makeWASocket({ ...config, agent, fetchAgent: agent, options: whole }),
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

type ProxyAgent = HttpsProxyAgent<string> | SocksProxyAgent;

function agentThrough(proxy: ProxyAddress): ProxyAgent {
  const url = proxyUrl(proxy, true);
  if (proxy.protocol === 'http') return new HttpsProxyAgent(url);
  const agent = new SocksProxyAgent(url.replace('socks5:', 'socks5h:'));
  // The package keeps the brackets of an IPv6 address, under which nothing is found.
  agent.proxy.host = proxy.host;
  return agent;
}

/** Connects `fetch` as the web socket is connected. Undici's own proxies connect again for ever to one that hangs up. */
function connector(agent: ProxyAgent): buildConnector.connector {
  const connect = async ({ hostname, port, protocol, servername }: buildConnector.Options) => {
    let status = 200;
    const request = new EventEmitter().once('proxyConnect', ({ statusCode }) => {
      status = statusCode;
    });
    // The packages use it as an emitter alone.
    const socket = await agent.connect(request as ClientRequest, {
      host: hostname,
      port: Number(port || 443),
      secureEndpoint: protocol === 'https:',
      servername: servername ?? hostname,
    });
    if (status === 200) return socket;
    socket.destroy();
    throw new Error(`the proxy answered ${status}`);
  };
  return (options, done) => {
    connect(options).then(
      (socket) => done(null, socket),
      (error) => done(error, null),
    );
  };
}
