import t from 'tap';
import { failureClass } from '../../../plugins/messages/failure-class.ts';
import { failures } from '../../../plugins/messages/failures.ts';
import { MessageReporter } from '../../../plugins/messages/message-reporter.ts';
import { makeMessageMetrics } from '../../../plugins/messages/metrics.ts';
import { PrometheusMetrics } from '../../../plugins/observability/metrics.ts';
import { log } from '../../fixtures/process.ts';
import { queued } from './stored-message.ts';

t.test('a failed message is counted after the commit, by what kept it and by mode', async (t) => {
  const metrics = new PrometheusMetrics();
  const reporter = new MessageReporter(log, makeMessageMetrics(metrics, ['msgapp_web']));
  const committed: (() => void)[] = [];
  const asked: (readonly string[])[] = [];
  const unit = {
    afterCommit: (signal: () => void) => void committed.push(signal),
    tenants: {
      find: async (ids: readonly string[]) => {
        asked.push(ids);
        return new Map(ids.map((id) => [id, { mode: id === 'ten_1' ? 'test' : 'live' }]));
      },
    },
  };
  const line = (mode: string, name: string) =>
    `gateway_message_failures_total{channel="msgapp_web",mode="${mode}",class="${name}"}`;
  const report = async (tenantId: string, status: 'failed' | 'sent', error: string | null) =>
    // It asks a unit for nothing else.
    await reporter.report(unit as never, [{ ...queued, tenantId, status, error }]);
  t.match(await metrics.text(), `${line('live', 'media')} 0\n`, 'a zero from the start');
  await report('ten_2', 'failed', 'media_unavailable: the server answered 404');
  await report('ten_2', 'failed', failures.expired(24));
  await report('ten_1', 'failed', failures.delivery_uncertain());
  await report('ten_1', 'sent', null);
  t.match(await metrics.text(), `${line('live', 'media')} 0\n`, 'nothing before the commit');
  for (const signal of committed) signal();
  const text = await metrics.text();
  t.match(text, `${line('live', 'media')} 1\n`);
  t.match(text, `${line('live', 'expired')} 1\n`);
  t.match(text, `${line('test', 'uncertain')} 1\n`);
  const of = 'gateway_messages_total{channel="msgapp_web"';
  t.match(text, `${of},mode="live",status="failed"} 2\n`);
  t.match(text, `${of},mode="test",status="sent"} 1\n`);
  t.same(asked, [['ten_2'], ['ten_1']], 'each tenant is read once');
});

t.test('an error is of one of a few classes', async (t) => {
  const classes = {
    media: ['media_unavailable: no', 'media_too_large: no', 'media_url_not_allowed: no'],
    contact: [
      failures.contact_private(),
      failures.contact_erased(),
      failures.contact_do_not_disturb(),
    ],
    session: [failures.account('logged_out'), failures.account('pairing_timeout')],
    refused: [
      failures.receipt(null),
      failures.closedToStrangers('blocked_by_network', null),
      failures.closedToStrangers('safety_limits', null),
      'not_on_network: nobody has this number',
      'user_is_blocked: the network refused the message',
    ],
    expired: [failures.expired(24), failures.expired(24, 'throttled: wait')],
    uncertain: [failures.delivery_uncertain('no_answer: the network did not answer')],
    other: ['Something without a code', null],
  } as const;
  for (const [name, errors] of Object.entries(classes)) {
    for (const error of errors) t.equal(failureClass(error), name, error ?? 'without an error');
  }
});
