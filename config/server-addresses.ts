import { isJsonObject } from '../core/json-object.ts';
import { ConfigError } from './error.ts';

/** Parameters of a `mysql://` address that may be given beside `ssl`: mysql2 reads them, no statement depends on them. */
const databaseParameters: readonly string[] = [
  'compress',
  'connectAttributes',
  'localAddress',
  'socketPath',
];

interface ServerAddresses {
  readonly database_url: string;
  readonly amqp_url: string | null;
}

/**
 * Refuses an address of a server that is read otherwise than it was meant. A `/` in the password cuts the address
 * short: the gateway would ask another host, and print the rest of the password.
 * @throws ConfigError without any part of the address
 */
export function refuseMisreadAddresses({ database_url, amqp_url }: ServerAddresses): void {
  if (database_url.startsWith('mysql:')) {
    refuseMisread(database_url, 'database', 'database name');
    refuseUnheeded(new URL(database_url).searchParams);
  }
  if (amqp_url !== null) refuseMisread(amqp_url, 'amqp', 'virtual host');
}

function refuseMisread(url: string, server: 'database' | 'amqp', path: string): void {
  if (isReadAsMeant(url)) return;
  const setting = `${server}_url`;
  const prefix = server.toUpperCase();
  throw new ConfigError(
    setting,
    `${setting} (${prefix}_URL) is not an address: write % @ : / ? # in its user, password and ${path} as ` +
      `%25 %40 %3A %2F %3F %23, or give the password in ${prefix}_PASSWORD; a port is at most 65535.`,
  );
}

/** Refuses a parameter that nobody heeds: who asks for TLS in the words of another library would have none. */
function refuseUnheeded(parameters: URLSearchParams): void {
  const isHeeded = ([name, value]: [string, string]): boolean =>
    name === 'ssl' ? isTlsOption(value) : databaseParameters.includes(name);
  if ([...parameters].every(isHeeded)) return;
  throw new ConfigError(
    'database_url',
    'database_url (DATABASE_URL) has a parameter that the gateway does not read: take it out. For an encrypted ' +
      "connection name, in DATABASE_CA, the file with the certificate of whoever signed the server's.",
  );
}

/** Whether it is what mysql2 takes for `ssl`, such as `{}` and `false`. */
function isTlsOption(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return value === false || isJsonObject(value);
  } catch {
    return text === 'Amazon RDS';
  }
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
