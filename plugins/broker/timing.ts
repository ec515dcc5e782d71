/** How soon a connection to RabbitMQ is given up and tried again. All but one in milliseconds. */
export interface RabbitmqTiming {
  /** To connect and log in. */
  readonly connectMs: number;
  /** To declare, bind and consume once connected: a thousand bindings take about a second. */
  readonly setUpMs: number;
  /** Between two messages that the process sends to itself to see that both directions work. */
  readonly pulseMs: number;
  /** Patience: without a confirmation of a message, or without the pulse, for so long RabbitMQ counts as hung. */
  readonly patienceMs: number;
  /** Before the first new try; it doubles up to `retryMaxMs`. */
  readonly retryMs: number;
  readonly retryMaxMs: number;
  /** Drain: time for unsent messages on close, and then for the close of each connection. */
  readonly closeMs: number;
  /** AMQP heartbeat in seconds: RabbitMQ notices a process that hangs after about twice as long. */
  readonly heartbeatS: number;
}

/** What suits RabbitMQ in the same data centre. */
export const defaultTiming: RabbitmqTiming = {
  connectMs: 4_000,
  setUpMs: 15_000,
  pulseMs: 1_000,
  patienceMs: 4_000,
  retryMs: 200,
  retryMaxMs: 2_000,
  closeMs: 1_500,
  heartbeatS: 5,
};
