import type { GatewayLog } from '../../core/log.ts';

/** Options of a pulse; all counts are ticks. */
export interface PulseOptions {
  readonly every: number;
  /** Ticks without a returned pulse after which the broker is not ready. */
  readonly patience: number;
  readonly log: GatewayLog;
  /** Whether both connections are set up, and RabbitMQ takes messages. */
  connected(): boolean;
  /** Sends a message to this process itself, if there is a way out. */
  send(text: string): void;
  /** Called when messages are confirmed but none arrives, for twice the patience. */
  onDeaf(): void;
}

/**
 * Readiness by a pulse: the process sends itself a message over both connections, again and again. Time is counted in
 * ticks, so that a stalled process does not blame RabbitMQ.
 */
export class Pulse {
  readonly #options: PulseOptions;
  readonly #sweeps = new Set<() => void>();
  /** Of the pair of connections that there is now. */
  #generation = 0;
  #tick = 0;
  #cameBackAt = 0;
  #ready = false;

  constructor(options: PulseOptions) {
    this.#options = options;
  }

  get ready(): boolean {
    return this.#ready;
  }

  /** Calls back whenever both directions work again, and soon if they do. */
  onReady(sweep: () => void): void {
    this.#sweeps.add(sweep);
    setImmediate(() => {
      if (this.#ready) this.#call(sweep);
    });
  }

  /** A connection is set up, or RabbitMQ takes messages again. */
  up(): void {
    this.#generation += 1;
    this.#cameBackAt = this.#tick;
    this.#beat();
  }

  /** A connection is lost, or RabbitMQ blocks publishing. */
  down(): void {
    this.#generation += 1;
    this.#ready = false;
  }

  /** A pulse has arrived; one that set out on other connections proves nothing. */
  cameBack(text: string): void {
    if (text !== String(this.#generation) || !this.#options.connected()) return;
    this.#cameBackAt = this.#tick;
    if (this.#ready) return;
    this.#ready = true;
    for (const sweep of this.#sweeps) this.#call(sweep);
  }

  /** Called several times a second. */
  tick(): void {
    this.#tick += 1;
    const { every, patience, connected, onDeaf } = this.#options;
    if (this.#tick % every === 0) this.#beat();
    if (!connected()) return;
    const silence = this.#tick - this.#cameBackAt;
    if (silence > patience) this.#ready = false;
    // A broken outbound connection is noticed earlier, by its confirmations.
    if (silence > 2 * patience) onDeaf();
  }

  #beat(): void {
    this.#options.send(String(this.#generation));
  }

  #call(sweep: () => void): void {
    try {
      sweep();
    } catch (error) {
      this.#options.log.error({ err: error }, 'a sweep failed');
    }
  }
}
