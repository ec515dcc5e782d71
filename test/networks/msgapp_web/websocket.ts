import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

/** A web socket's server side: as much of it as the protocol library uses. */
export interface WebSocketEnd {
  send(data: Uint8Array): void;
  /** Ends it after what was sent. */
  end(): void;
  destroy(): void;
}

/** Who hears what comes. */
export interface WebSocketListener {
  data(data: Buffer): void;
  /** Raw bytes of the socket, headers included. */
  bytes(count: number): void;
  closed(): void;
}

const opcodes = { binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** Answers an upgrade request and speaks web socket on its connection. */
export function acceptWebSocket(
  request: IncomingMessage,
  socket: Duplex,
  listener: WebSocketListener,
): WebSocketEnd {
  const accept = createHash('sha1')
    .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64');
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
  let waiting: Buffer = Buffer.alloc(0);
  const write = (opcode: number, data: Uint8Array): void => {
    if (!socket.writable) return;
    socket.write(Buffer.concat([headerOf(opcode, data.length), data]));
  };
  socket.on('data', (chunk: Buffer) => {
    listener.bytes(chunk.length);
    waiting = Buffer.concat([waiting, chunk]);
    for (let frame = readFrame(waiting); frame !== null; frame = readFrame(waiting)) {
      waiting = waiting.subarray(frame.size);
      if (frame.opcode === opcodes.close) socket.end();
      else if (frame.opcode === opcodes.ping) write(opcodes.pong, frame.data);
      else if (frame.opcode !== opcodes.pong) listener.data(frame.data);
    }
  });
  socket.on('error', () => socket.destroy());
  // A server of HTTP leaves its half open, also when the client's process was killed.
  socket.on('end', () => socket.end());
  socket.on('close', () => listener.closed());
  return {
    send: (data) => write(opcodes.binary, data),
    end: () => {
      write(opcodes.close, Buffer.alloc(0));
      socket.end();
    },
    destroy: () => socket.destroy(),
  };
}

function headerOf(opcode: number, length: number): Buffer {
  if (length < 126) return Buffer.from([0x80 | opcode, length]);
  const wide = length > 0xffff;
  const header = Buffer.alloc(wide ? 10 : 4);
  header[0] = 0x80 | opcode;
  header[1] = wide ? 127 : 126;
  if (wide) header.writeBigUInt64BE(BigInt(length), 2);
  else header.writeUInt16BE(length, 2);
  return header;
}

/** A client's frame, which is masked and, from this client, whole; null while it is not all there. */
function readFrame(
  bytes: Buffer,
): { readonly opcode: number; readonly data: Buffer; readonly size: number } | null {
  if (bytes.length < 6) return null;
  const short = (bytes[1] ?? 0) & 0x7f;
  const start = short === 127 ? 10 : short === 126 ? 4 : 2;
  if (bytes.length < start + 4) return null;
  const length =
    short === 127
      ? Number(bytes.readBigUInt64BE(2))
      : short === 126
        ? bytes.readUInt16BE(2)
        : short;
  const size = start + 4 + length;
  if (bytes.length < size) return null;
  const mask = bytes.subarray(start, start + 4);
  const data = Buffer.from(bytes.subarray(start + 4, size));
  for (let at = 0; at < data.length; at += 1) data[at] = (data[at] ?? 0) ^ (mask[at % 4] ?? 0);
  return { opcode: (bytes[0] ?? 0) & 0x0f, data, size };
}
