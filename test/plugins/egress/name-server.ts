import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Its addresses; none of them; a response code (2: it cannot tell, 3: no such name); or nothing ever. */
export type Answer = readonly string[] | number | 'silent';

/** A name server on loopback. */
export interface NameServer {
  /** As `setServers` takes it. */
  readonly address: string;
  /** The questions so far, as `A name` and `AAAA name`. */
  readonly questions: readonly string[];
}

const types: Readonly<Record<number, string>> = { 1: 'A', 28: 'AAAA' };

/** Starts a name server over UDP that answers every question by a rule, and ends it with the test. */
export async function nameServer(
  owner: { teardown(end: () => unknown): void },
  answer: (name: string, type: string) => Answer | Promise<Answer>,
): Promise<NameServer> {
  const socket = createSocket('udp4');
  const questions: string[] = [];
  socket.on('message', async (message, sender) => {
    const labels: string[] = [];
    let end = 12;
    for (let size = message.readUInt8(end); size > 0; size = message.readUInt8(end)) {
      labels.push(message.toString('latin1', end + 1, end + 1 + size));
      end += 1 + size;
    }
    const [name, type] = [labels.join('.'), types[message.readUInt16BE(end + 1)] ?? 'other'];
    questions.push(`${type} ${name}`);
    const said = await answer(name, type);
    if (said === 'silent') return;
    const [addresses, code] = typeof said === 'number' ? [[], said] : [said, 0];
    const records = addresses.filter((address) => isIPv4(address) === (type === 'A')).map(record);
    // One question, which comes back as it was asked; recursion was wanted and is there.
    const head = Buffer.from([0x81, 0x80 | code, 0, 1, 0, records.length, 0, 0, 0, 0]);
    const id = message.subarray(0, 2);
    const reply = Buffer.concat([id, head, message.subarray(12, end + 5), ...records]);
    socket.send(reply, sender.port, sender.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  owner.teardown(() => socket.close());
  return { address: `127.0.0.1:${socket.address().port}`, questions };
}

/** One address of the name that was asked for. */
function record(address: string): Buffer {
  const bytes = ipaddr.parse(address).toByteArray();
  const type = bytes.length === 4 ? 1 : 28;
  return Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, bytes.length, ...bytes]);
}
