import type { GatewayLog } from '../../../core/log.ts';

/** Whose event a handler has. */
export interface HandlerFields {
  readonly subscription: string;
  readonly tenant: string;
  /** Id of the event. */
  readonly event: string;
}

/**
 * Settles as a handler does, and logs one that takes long when it becomes so and when it ends.
 * @param slowMs after how long it is slow
 * @param onSlow called then
 */
export async function watchSlow(
  handled: Promise<void>,
  {
    log,
    fields,
    slowMs,
    onSlow,
  }: {
    readonly log: Pick<GatewayLog, 'warn' | 'info'>;
    readonly fields: HandlerFields;
    readonly slowMs: number;
    onSlow(): void;
  },
): Promise<void> {
  const begunAt = performance.now();
  let isSlow = false;
  const timer = setTimeout(() => {
    isSlow = true;
    const text = `a handler of events has run for over ${slowMs / 1000} s; its tenant waits`;
    log.warn(fields, text);
    onSlow();
  }, slowMs).unref();
  try {
    await handled;
  } finally {
    clearTimeout(timer);
    const ms = Math.round(performance.now() - begunAt);
    if (isSlow) log.info({ ...fields, ms }, 'a slow handler of events has ended');
  }
}
