import type { LineSocket } from '../lines.ts';
import type { Network } from './network.ts';
import type { Phone } from './phone.ts';
import type { PhoneConnection } from './phone-link.ts';
import type { DriverRequest, PhoneAddress, SessionNotice } from './protocol.ts';
import { receiveSend } from './sending.ts';
import type { Tick } from './tick.ts';

/** One driver's connection for one phone. */
export class ServedConnection implements PhoneConnection {
  readonly address: PhoneAddress;
  readonly #network: Network;
  readonly #socket: LineSocket;
  readonly #tick: Tick;
  #ended = false;

  constructor(network: Network, address: PhoneAddress, socket: LineSocket, tick: Tick) {
    this.#network = network;
    this.address = address;
    this.#socket = socket;
    this.#tick = tick;
    network.connections.add(this);
  }

  notify(notice: SessionNotice): void {
    if (!this.#ended) this.#tick.write(this.#socket, notice);
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#tick.end(this.#socket);
  }

  /** The connection is gone. */
  gone(): void {
    this.#ended = true;
    this.#network.connections.delete(this);
    this.#network.find(this.address)?.link.left(this);
  }

  /** One request of the driver. */
  take(request: DriverRequest): void {
    if (this.#ended) return;
    if (request.type === 'link') {
      this.#network.findOrMake(this.address).link.begin(this, request);
      return;
    }
    const phone = this.#network.find(this.address);
    if (phone === null) this.#unknown(request);
    else this.#act(phone, request);
  }

  #act(phone: Phone, request: Exclude<DriverRequest, { type: 'link' }>): void {
    const { link } = phone;
    switch (request.type) {
      case 'resume':
        link.resume(this, request.token);
        break;
      case 'ready':
        link.ready(this);
        break;
      case 'answer': {
        const result = link.answer(this, request.field, request.value);
        this.notify({ type: 'answered', id: request.id, result });
        break;
      }
      case 'send':
        // A connection that was overtaken speaks for nobody.
        if (link.isAttached(this)) receiveSend(this.#network.store, phone, this, request);
        else this.end();
        break;
      case 'log_out':
        link.logOut(this, request.token);
        this.notify({ type: 'left', id: request.id });
        break;
      case 'ack':
        link.acknowledge(this, request.offers);
        break;
      case 'nack':
        link.giveBack(this, request.offers);
        break;
    }
  }

  /** A phone that this network has never seen, for instance because its folder was emptied. */
  #unknown(request: DriverRequest): void {
    if (request.type === 'log_out') this.notify({ type: 'left', id: request.id });
    if (request.type === 'resume') this.notify({ type: 'logged_out', reason: 'session_lost' });
  }
}
