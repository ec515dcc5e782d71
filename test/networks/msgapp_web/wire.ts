import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { BinaryNode, proto } from 'baileys';
import type { Library } from '../../../drivers/msgapp_web/library.ts';
import { NoiseResponder, type ServerIdentity } from './noise.ts';
import { acceptWebSocket, type WebSocketEnd } from './websocket.ts';

/** Who hears of a client's connection. */
export interface WireListener {
  /** The handshake is over and the client has said who it is. */
  introduced(wire: Wire, payload: proto.ClientPayload): void;
  /** One after the other: the next waits until this resolved. */
  node(wire: Wire, node: BinaryNode): Promise<void>;
  bytes(count: number): void;
  closed(wire: Wire): void;
}

/** One client's connection: stanzas both ways. */
export class Wire {
  readonly #library: Library;
  readonly #noise: NoiseResponder;
  readonly #listener: WireListener;
  readonly #end: WebSocketEnd;
  #waiting: Buffer = Buffer.alloc(0);
  #started = false;
  #stage: 'hello' | 'finish' | 'open' = 'hello';
  #turn: Promise<void> = Promise.resolve();
  #last = 0;

  constructor(
    library: Library,
    identity: ServerIdentity,
    request: IncomingMessage,
    socket: Duplex,
    listener: WireListener,
  ) {
    this.#library = library;
    this.#noise = new NoiseResponder(library, identity);
    this.#listener = listener;
    this.#end = acceptWebSocket(request, socket, {
      data: (data) => this.#take(data),
      bytes: (count) => listener.bytes(count),
      closed: () => listener.closed(this),
    });
  }

  /** An id for a stanza of ours. */
  nextId(): string {
    this.#last += 1;
    return `s.${this.#last}`;
  }

  send(node: BinaryNode): void {
    this.#frame(this.#noise.seal(this.#library.encodeBinaryNode(node)));
  }

  /** A last word, then the end. */
  finish(node: BinaryNode): void {
    this.send(node);
    this.#end.end();
  }

  /** Breaks at once. */
  destroy(): void {
    this.#end.destroy();
  }

  #frame(data: Uint8Array): void {
    const size = Buffer.from([data.length >> 16, (data.length >> 8) & 0xff, data.length & 0xff]);
    this.#end.send(Buffer.concat([size, data]));
  }

  #take(data: Buffer): void {
    this.#waiting = Buffer.concat([this.#waiting, data]);
    if (!this.#started) {
      const { length } = this.#library.NOISE_WA_HEADER;
      if (this.#waiting.length < length) return;
      this.#started = true;
      this.#waiting = this.#waiting.subarray(length);
    }
    for (;;) {
      if (this.#waiting.length < 3) return;
      const size = this.#waiting.readUIntBE(0, 3);
      if (this.#waiting.length < size + 3) return;
      const frame = this.#waiting.subarray(3, size + 3);
      this.#waiting = this.#waiting.subarray(size + 3);
      try {
        this.#read(frame);
      } catch {
        // A client that does not trust us leaves here.
        this.destroy();
        return;
      }
    }
  }

  #read(frame: Buffer): void {
    if (this.#stage === 'open') {
      const plain = this.#noise.open(frame);
      this.#turn = this.#turn
        .then(async () => this.#listener.node(this, await this.#library.decodeBinaryNode(plain)))
        .catch((error: unknown) => {
          console.error('the fake network failed', error);
          this.destroy();
        });
      return;
    }
    const message = this.#library.proto.HandshakeMessage.decode(frame);
    if (this.#stage === 'hello') {
      this.#stage = 'finish';
      this.#frame(this.#noise.hello(message));
      return;
    }
    const payload = this.#noise.finish(message);
    this.#stage = 'open';
    this.#listener.introduced(this, payload);
  }
}
