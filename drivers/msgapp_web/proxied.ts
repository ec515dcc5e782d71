import type { Agent } from 'node:https';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { SocksProxyAgent } from 'socks-proxy-agent';
import { ProxyAgent, Socks5ProxyAgent } from 'undici';
import { type ProxyAddress, proxyUrl } from '../../core/contracts/driver.ts';
import type { Library } from './library.ts';

/**
 * The library, with every connection through a proxy: web socket, uploads and downloads. Names of the network's hosts
 * are looked up by the proxy.
 */
export function proxied(library: Library, proxy: ProxyAddress): Library {
  const { agent, dispatcher } = waysThrough(proxy);
  // Node's own types of `fetch` are of another version of undici.
  const options = { dispatcher } as unknown as RequestInit;
  return {
    ...library,
    makeWASocket: (config) =>
      library.makeWASocket({ ...config, agent, fetchAgent: agent, options }),
    downloadContentFromMessage: (fields, type, given = {}) =>
      library.downloadContentFromMessage(fields, type, { ...given, options }),
  };
}

function waysThrough(proxy: ProxyAddress) {
  const url = proxyUrl(proxy, true);
  if (proxy.protocol === 'http') {
    return { agent: new HttpsProxyAgent(url), dispatcher: new ProxyAgent(url) };
  }
  // An agent of Node.js, which the package types as one without TLS.
  const agent = new SocksProxyAgent(url.replace('socks5:', 'socks5h:')) as unknown as Agent;
  return { agent, dispatcher: new Socks5ProxyAgent(url) };
}
