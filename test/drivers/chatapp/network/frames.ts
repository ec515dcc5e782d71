import type { Socket } from 'node:net';

/** A socket that carries the packets of the network's intermediate transport. */
export class Frames {
  onPacket: (packet: Buffer) => void = () => undefined;
  onClose: () => void = () => undefined;
  readonly #socket: Socket;
  #rest = Buffer.alloc(0);
  #tagged = false;

  constructor(socket: Socket, counted: (bytes: number) => void) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (bytes: Buffer) => {
      counted(bytes.length);
      this.#take(bytes);
    });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.onClose());
  }

  write(packet: Uint8Array): void {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(packet.length);
    if (!this.#socket.destroyed) this.#socket.write(Buffer.concat([length, packet]));
  }

  /** Tells the client a transport error, for example 404 for a key that is not known. */
  refuse(code: number): void {
    const error = Buffer.alloc(4);
    error.writeInt32LE(-code);
    this.write(Buffer.concat([error]));
  }

  cut(): void {
    this.#socket.destroy();
  }

  #take(bytes: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    if (!this.#tagged && this.#rest.length >= 4) {
      this.#rest = this.#rest.subarray(4);
      this.#tagged = true;
    }
    while (this.#tagged && this.#rest.length >= 4) {
      const length = this.#rest.readUInt32LE(0);
      if (this.#rest.length < 4 + length) return;
      const packet = this.#rest.subarray(4, 4 + length);
      this.#rest = this.#rest.subarray(4 + length);
      this.onPacket(packet);
    }
  }
}
