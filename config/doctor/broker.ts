import { randomUUID } from 'node:crypto';
import { Connection } from 'rabbitmq-client';
import { isUntrusted } from '../../core/authority.ts';
import { withTimeout } from '../../core/waiting.ts';
import { brokerOptions } from '../compose-doctor.ts';
import { bad, type Finding, good } from './finding.ts';

/** How long the broker may take for all of it, in milliseconds. */
const patienceMs = 5_000;

/** A trouble of the broker that is no error of its own. */
class BrokerTrouble extends Error {}

/** Makes, writes to and reads from a queue of the gateway's names, which goes with the connection. */
export async function examineBroker(url: string, ca?: string): Promise<Finding> {
  const tls = ca === undefined ? {} : { tls: { ca } };
  const connection = new Connection({ ...brokerOptions(url), ...tls, retryLow: 60_000 });
  const failed = new Promise<never>((_, reject) => {
    // The first one says most: what follows it is that the connection is gone.
    connection.once('error', reject);
    // Without it nothing would ever come: a blocked publisher is never answered.
    connection.once('connection.blocked', (reason: string) =>
      reject(new BrokerTrouble(`takes no messages (${reason}): give it more memory or disk`)),
    );
  });
  const queue = `gateway.doctor.${randomUUID()}`;
  const tried = async (): Promise<void> => {
    const channel = await connection.acquire();
    await channel.queueDeclare({ queue, exclusive: true, autoDelete: true });
    await channel.confirmSelect();
    await channel.basicPublish({ routingKey: queue }, 'doctor');
    if ((await channel.basicGet({ queue, noAck: true })) === undefined) {
      const lost = 'loses messages: let no policy limit the queues "^gateway\\..*"';
      throw new BrokerTrouble(lost);
    }
    await channel.queueDelete({ queue });
    await channel.close();
  };
  const late = new BrokerTrouble('does not answer: start it anew, or correct AMQP_URL');
  try {
    await withTimeout(patienceMs, late, Promise.race([tried(), failed]));
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
  const broker = `The broker at ${host}`;
  if (error instanceof BrokerTrouble) return `${broker} ${message}.`;
  if (/ACCESS_REFUSED.*(access to|permission)/.test(`${code} ${message}`)) {
    return `The broker does not let the user ${username} use the gateway's queues: give it the permissions to configure and read "^gateway\\..*", and to write "^(gateway\\..*|amq\\.default)$" (${message}).`;
  }
  if (/ACCESS_REFUSED|NOT_ALLOWED/.test(`${code} ${message}`)) {
    return `${broker} refuses the user ${username} on the virtual host "${decodeURIComponent(pathname.slice(1)) || '/'}": correct AMQP_URL or AMQP_PASSWORD (${message}).`;
  }
  if (isUntrusted(error)) {
    return `${broker} is not trusted (${message}): name the certificate of whoever signed its certificate in AMQP_CA, and in AMQP_URL the host name that it is made out to.`;
  }
  return `${broker} cannot be reached: start it, or correct AMQP_URL (${message}).`;
}
