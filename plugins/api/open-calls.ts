import type { Socket } from 'node:net';
import { GatewayError } from '../../core/errors.ts';

/** The signals of calls that are being handled. One per gateway. */
export class OpenCalls {
  readonly #open = new Set<CallSignal>();
  #stopped = false;

  /** The signal of one call; costs nothing until somebody asks for it. */
  enter(socket: Socket): CallSignal {
    return new CallSignal(socket, this.#open, () => this.#stopped);
  }

  /** Aborts every call that is open, and every later one at once: the gateway stops. */
  stop(): void {
    this.#stopped = true;
    for (const call of [...this.#open]) call.stop();
  }
}

/** Aborts when the client's connection closes before the answer, and when the gateway stops. */
export class CallSignal {
  readonly #socket: Socket;
  readonly #open: Set<CallSignal>;
  readonly #isStopped: () => boolean;
  #controller: AbortController | undefined;

  constructor(socket: Socket, open: Set<CallSignal>, isStopped: () => boolean) {
    this.#socket = socket;
    this.#open = open;
    this.#isStopped = isStopped;
  }

  /** Made when first asked for: most handlers never do. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      this.#open.add(this);
      // A batch over MCP has many calls on one socket; beyond ten Node.js would warn of a leak.
      this.#socket.setMaxListeners(0);
      this.#socket.once('close', this.#gone);
      if (this.#socket.destroyed) this.#gone();
      if (this.#isStopped()) this.stop();
    }
    return this.#controller.signal;
  }

  /** The gateway stops. */
  stop(): void {
    this.#controller?.abort(
      new GatewayError('unavailable', { message: 'The gateway is stopping; try again.' }),
    );
  }

  /** The call was answered: the signal stays as it is. */
  leave(): void {
    if (this.#controller === undefined) return;
    this.#socket.off('close', this.#gone);
    this.#open.delete(this);
  }

  readonly #gone = (): void => {
    this.#controller?.abort(new DOMException('The client went away.', 'AbortError'));
  };
}
