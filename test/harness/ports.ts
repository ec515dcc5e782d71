import { createServer } from 'node:net';

/** Answers a TCP port on 127.0.0.1 that nobody listens on at the moment of asking. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  if (address === null || typeof address === 'string') {
    throw new Error('The system gave no TCP port: check that 127.0.0.1 can be listened on.');
  }
  return address.port;
}
