import { ConfigError } from './error.ts';

/**
 * Refuses an address of the broker that is read otherwise than it was meant. A `/` in the password cuts the address
 * short: the gateway would ask another host, and print the rest of the password.
 * @throws ConfigError without any part of the address
 */
export function refuseWrongBroker(url: string | null): void {
  if (url === null || isReadAsMeant(url)) return;
  throw new ConfigError(
    'amqp_url',
    'amqp_url (AMQP_URL) is not an address: write % @ : / ? # in its user, password and virtual host as ' +
      '%25 %40 %3A %2F %3F %23, or give the password in AMQP_PASSWORD; a port is at most 65535.',
  );
}

function isReadAsMeant(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { username, password, pathname, search, hash } = new URL(address);
  // The end of a password that was cut short.
  if (`${pathname}${search}${hash}`.includes('@')) return false;
  return [username, password, pathname].every(isDecodable);
}

function isDecodable(part: string): boolean {
  try {
    decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}
