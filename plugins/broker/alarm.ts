import type { GatewayLog } from '../../core/log.ts';
import type { LinkSession } from './link-session.ts';

/** Options of an alarm. */
export interface AlarmOptions {
  readonly log: GatewayLog;
  onBegins(): void;
  onEnds(): void;
}

/**
 * Notices that RabbitMQ is low on memory or disk: it reads nothing more from a connection that publishes, and says when
 * it does again. Nothing is confirmed meanwhile, which is no hang: another connection would fare the same.
 */
export function watchAlarm(session: LinkSession, { log, onBegins, onEnds }: AlarmOptions): void {
  let begun = 0;
  session.connection.on('connection.blocked', (reason: string) => {
    if (session.blocked) return;
    session.blocked = true;
    begun = performance.now();
    log.warn({ reason }, 'RabbitMQ takes no messages: it is low on memory or disk');
    onBegins();
  });
  session.connection.on('connection.unblocked', () => {
    if (!session.blocked) return;
    session.blocked = false;
    const seconds = Math.round((performance.now() - begun) / 100) / 10;
    log.warn({ seconds }, 'RabbitMQ takes messages again');
    onEnds();
  });
}
