import ipaddr from 'ipaddr.js';

/**
 * Public-looking addresses that a cloud answers itself, not the internet: Azure's platform host, IBM Cloud's service
 * networks, Google's private API addresses. The metadata hosts of other clouds are link-local, carrier-grade NAT,
 * unique local or reserved, and refused as such.
 */
const cloudNetworks = [
  '168.63.129.16/32',
  '161.26.0.0/16',
  '166.8.0.0/14',
  '199.36.153.4/30',
  '199.36.153.8/30',
].map((network) => ipaddr.IPv4.parseCIDR(network));

/** Global unicast; addresses outside are reserved, IPv4-compatible among them. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Whether an address belongs to one host of the public internet. Every address that carries another in it (mapped,
 * compatible, NAT64, 6to4, Teredo) is refused whatever it carries: it says nothing about where it ends. Pure.
 * @param address as text in any notation, a zone id included; anything else is not public
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  if (parsed instanceof ipaddr.IPv6) return parsed.match(globalUnicast);
  return !cloudNetworks.some((network) => parsed.match(network));
}
