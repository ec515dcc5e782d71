/**
 * The loopback network as a program of its own, so that it outlives a gateway that is killed. Prints one line of
 * JSON: where it listens, where it is played, and the key that clients are to trust. A play is a POST of
 * `{"call", "given"}`, a method of `Control` and what it is given; the answer is `{"value"}` or `{"error"}`.
 */
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { Control } from './control.ts';
import { Network } from './network.ts';

const network = await Network.listen();
const control = new Control(network);

// A client whose process is busy would meet a connection that is just being closed.
const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
  json(request)
    .then((asked) => play(asked as { call: keyof Control; given: unknown[] }))
    .then(
      (value) => response.end(JSON.stringify({ value: value ?? null })),
      (error: unknown) => response.end(JSON.stringify({ error: String(error) })),
    );
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  const controlPort = typeof address === 'object' ? address?.port : null;
  const { port, publicKey } = network;
  console.log(JSON.stringify({ port, controlPort, publicKey }));
});
process.on('SIGTERM', () => process.exit(0));

/** The test that plays calls methods by their names, with what their types ask for. */
async function play({ call, given }: { call: keyof Control; given: unknown[] }): Promise<unknown> {
  const method = control[call] as (...given: unknown[]) => unknown;
  return await method.apply(control, given);
}
