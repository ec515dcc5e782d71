/** A time for which a core works, milliseconds, and where the number is from. */
interface Cost {
  readonly ms: number;
  readonly of: string;
  readonly from: string;
}

const cost = (ms: number, of: string, from: string): Cost => ({ ms, of, from });

const accept = '`accept` with 1 client and with 64: transactions of 1 and of 32';
const through = '`through` at four loads, by its transactions, less `accept`';
const shared = 'what is left of `through`, shared out by estimate';
const hints = 'by hand: hints to 1, 10 and 30 processes';

/** Service times of the simulation. A transaction takes its own time, and that of each send, step, event or attempt in it. */
export const costs = {
  request: cost(0.099, 'gateway: a request to its 202', accept),
  acceptTurn: cost(0.43, 'gateway: a transaction of sends', accept),
  turn: cost(0.65, 'gateway: another transaction', through),
  report: cost(0.1, 'gateway: an outcome or a receipt', shared),
  attempt: cost(0.155, 'gateway: an attempt at a webhook', shared),
  accept: cost(0.42, 'database: a transaction of sends', accept),
  send: cost(0.079, 'database: a send in it', accept),
  transaction: cost(0.52, 'database: another transaction', through),
  step: cost(0.02, 'database: an intent or an outcome in it', shared),
  event: cost(0.12, 'database: an event with its delivery in it', shared),
  attempted: cost(0.045, 'database: an attempt in it', shared),
  publish: cost(0.06, 'broker: a hint', hints),
  carry: cost(0.039, 'broker: a hint to one more process', hints),
  hint: cost(0.023, 'gateway: a hint that it hears', hints),
  idle: cost(0.003, 'gateway: an idle session, a second', '`sessions` with 1 and with 1,000'),
  kept: cost(0.008, 'database: a session, every 3 s', 'by hand: renewal and sweep of 1,000'),
  searched: cost(
    0.0014,
    'database: an account, every 10 s by every process',
    'by hand: a search of 20,000',
  ),
  client: cost(0.061, 'client: a request', '`accept` with 64 clients'),
  network: cost(0.11, 'simulated network: a message', '`through`'),
  receiver: cost(0.055, 'receiver: a webhook', '`through`'),
} satisfies Record<string, Cost>;
