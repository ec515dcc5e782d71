import { randomUUID } from 'node:crypto';
import { Connection } from 'rabbitmq-client';
import { isUntrusted } from '../../core/authority.ts';
import { bad, type Finding, good } from './finding.ts';

/** How long the broker may take to answer, in milliseconds. */
const patienceMs = 5_000;

/** Makes, writes to and reads from a queue of the gateway's names, which goes with the connection. */
export async function examineBroker(url: string, ca?: string): Promise<Finding> {
  const tls = ca === undefined ? {} : { tls: { ca } };
  const connection = new Connection({
    url,
    ...tls,
    connectionTimeout: patienceMs,
    retryLow: 60_000,
  });
  // The first one says most: what follows it is that the connection is gone.
  const failed = new Promise<never>((_, reject) => connection.once('error', reject));
  const queue = `gateway.doctor.${randomUUID()}`;
  const tried = async (): Promise<void> => {
    await connection.onConnect(patienceMs);
    const channel = await connection.acquire();
    await channel.queueDeclare({ queue, exclusive: true, autoDelete: true });
    await channel.confirmSelect();
    await channel.basicPublish({ routingKey: queue }, 'doctor');
    const read = await channel.basicGet({ queue, noAck: true });
    if (read === undefined) throw new Error('a message that was published cannot be read');
    await channel.queueDelete({ queue });
    await channel.close();
  };
  try {
    await Promise.race([tried(), failed]);
    return good('broker', 'The broker takes and gives messages.');
  } catch (error) {
    return bad('broker', sentenceOf(error, new URL(url)));
  } finally {
    failed.catch(() => undefined);
    connection.unsafeDestroy();
  }
}

/** Never the address itself, which has the password. */
function sentenceOf(error: unknown, { host, username, pathname }: URL): string {
  const { message = String(error), code = '' } = error as { message?: string; code?: string };
  if (/ACCESS_REFUSED.*(access to|permission)/.test(`${code} ${message}`)) {
    return `The broker does not let the user ${username} use the gateway's queues: give it the permissions to configure, write and read "^gateway\\..*" (${message}).`;
  }
  if (/ACCESS_REFUSED|NOT_ALLOWED|403|530/.test(`${code} ${message}`)) {
    return `The broker at ${host} refuses the user ${username} on the virtual host "${decodeURIComponent(pathname.slice(1)) || '/'}": correct AMQP_URL or AMQP_PASSWORD (${message}).`;
  }
  if (isUntrusted(error)) {
    return `The broker at ${host} is not trusted (${message}): name the certificate of whoever signed its certificate in AMQP_CA, and in AMQP_URL the host name that it is made out to.`;
  }
  return `The broker at ${host} cannot be reached: start it, or correct AMQP_URL (${message}).`;
}
