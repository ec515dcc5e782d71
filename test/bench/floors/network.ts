// The network of a floor: takes each message that it is handed over a socket and says at once that it was sent, delivered
// and read.
import { type AddressInfo, createServer } from 'node:net';
import { LineSocket } from '../../../drivers/simulated/lines.ts';

const server = createServer((socket) => {
  const lines = new LineSocket(socket);
  lines.onFrame = (frame) => {
    if (typeof frame !== 'object' || frame === null || !('reference' in frame)) return;
    const { reference } = frame;
    const answers = ['sent', 'delivered', 'read'].map((status) => ({ reference, status }));
    lines.write(...answers);
  };
});
server.listen(0, '127.0.0.1', () => {
  // Listening on an address and a port, so it is one.
  console.log(`listening ${(server.address() as AddressInfo).port}`);
});
