import type { Socket } from 'node:net';
import { StringDecoder } from 'node:string_decoder';

/** A longer line is no line of this protocol. History of thousands of messages fits. */
const longestLine = 64 * 1024 * 1024;

/**
 * A socket that carries JSON objects, one a line. Both sides of the simulated network use it.
 * What cannot be read cuts the connection.
 */
export class LineSocket {
  /** Called with each object that arrived, in order. */
  onFrame: (frame: unknown) => void = () => undefined;
  /** Called when what arrived could not be read or handled; the connection is cut then. */
  onUnreadable: (error: unknown) => void = () => undefined;
  /** Called once, when the connection is over for whatever reason. */
  onClose: () => void = () => undefined;
  readonly #socket: Socket;
  readonly #decoder = new StringDecoder('utf8');
  /** Pieces of the line that has not ended yet: joined once, as joining them at each piece took quadratic time. */
  #pieces: string[] = [];
  #length = 0;
  #closed = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (bytes: Buffer) => this.#take(this.#decoder.write(bytes)));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      if (this.#closed) return;
      this.#closed = true;
      this.onClose();
    });
  }

  /** Writes objects as lines; nothing happens once the connection is over. */
  write(...frames: readonly object[]): void {
    if (this.#closed || !this.#socket.writable) return;
    this.#socket.write(frames.map((frame) => `${JSON.stringify(frame)}\n`).join(''));
  }

  /** Cuts the connection at once: nothing is read, written or called back any more. */
  cut(): void {
    this.#closed = true;
    this.#socket.destroy();
  }

  /** Ends the connection after what was written has left. `onClose` is called as usual. */
  end(): void {
    this.#socket.end();
    this.#socket.once('finish', () => this.#socket.destroy());
  }

  /** Lets the process end although this connection is open. */
  unref(): void {
    this.#socket.unref();
  }

  #take(text: string): void {
    const [piece = '', ...later] = text.split('\n');
    this.#pieces.push(piece);
    const lines: string[] = [];
    for (const next of later) {
      lines.push(this.#pieces.join(''));
      this.#pieces = [next];
      this.#length = 0;
    }
    this.#length += this.#pieces.at(-1)?.length ?? 0;
    if (this.#length > longestLine) return void this.#socket.destroy();
    for (const line of lines) {
      if (this.#closed) return;
      try {
        this.onFrame(JSON.parse(line));
      } catch (error) {
        // A peer that sends what cannot be understood is ignored from now on.
        this.onUnreadable(error);
        this.#socket.destroy();
        return;
      }
    }
  }
}
