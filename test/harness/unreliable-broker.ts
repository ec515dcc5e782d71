import type { Broker } from '../../core/contracts/broker.ts';

/** How unreliable: each a share of the messages, from 0 to 1. */
export interface Unreliability {
  readonly drop: number;
  readonly repeat: number;
  /** Delivered some milliseconds later, so that others overtake. */
  readonly reorder: number;
  /** Longest such delay in milliseconds; 50 when absent. */
  readonly delayMs?: number;
  /** From 0 to below 1; `Math.random` when absent. */
  readonly random?: () => number;
}

/** A broker that loses, repeats and reorders messages. Requests pass, as a lost one is only a time-out. */
export function unreliableBroker(broker: Broker, options: Unreliability): Broker {
  const random = options.random ?? Math.random;
  const carry = (send: () => void): void => {
    if (random() < options.drop) return;
    const copies = random() < options.repeat ? 2 : 1;
    for (let copy = 0; copy < copies; copy += 1) {
      if (random() < options.reorder) setTimeout(send, random() * (options.delayMs ?? 50)).unref();
      else send();
    }
  };
  return {
    processId: broker.processId,
    toHost: (accountId, message) => carry(() => broker.toHost(accountId, message)),
    toHosts: (accountIds, message) => carry(() => broker.toHosts(accountIds, message)),
    toWorker: (queue, message) => carry(() => broker.toWorker(queue, message)),
    toAll: (topic, message) => carry(() => broker.toAll(topic, message)),
    request: (processId, subject, body, timeoutMs) =>
      broker.request(processId, subject, body, timeoutMs),
    host: (accountId, handler) => broker.host(accountId, handler),
    work: (queue, prefetch, handler) => broker.work(queue, prefetch, handler),
    listen: (topic, handler) => broker.listen(topic, handler),
    serve: (subject, handler) => broker.serve(subject, handler),
    onReady: (sweep) => broker.onReady(sweep),
    ready: () => broker.ready(),
  };
}
