import { useState } from 'preact/hooks';
import type { OperationAnswer } from '../../../client/call.ts';
import { Choice, useTask } from './forms.tsx';
import type { Session } from './session.ts';
import { texts } from './texts.ts';
import { Badge, Button, Problem } from './ui.tsx';

/** Sends a sample event to the address, and shows what it answered. */
export function WebhookTest(props: { session: Session; id: string; events: readonly string[] }) {
  const [chosen, choose] = useState<string | null>(null);
  const [first = 'message.delivered'] = props.events;
  /** What was chosen may be subscribed to no more. */
  const event = chosen !== null && props.events.includes(chosen) ? chosen : first;
  const [answer, setAnswer] = useState<OperationAnswer<'test_webhook'> | null>(null);
  const task = useTask();
  const send = () =>
    task.run(async () => {
      setAnswer(null);
      const input = { path: { webhookId: props.id }, body: { event } };
      setAnswer(await props.session.client.call('test_webhook', input));
    });
  return (
    <section class="card">
      <h2>{texts.webhooks.test}</h2>
      <div class="fields">
        <Choice
          label={texts.webhooks.event}
          value={event}
          options={props.events.map((one) => [one, one])}
          onChange={choose}
        />
        <Button onClick={send} isBusy={task.isBusy}>
          {texts.webhooks.sendTest}
        </Button>
      </div>
      <div role="status">
        {answer !== null && (
          <p>
            <Badge tone={answer.delivered ? 'good' : 'bad'}>
              {answer.delivered
                ? texts.webhooks.statuses.delivered
                : texts.webhooks.statuses.failed}
            </Badge>{' '}
            {answer.status_code !== null && texts.webhooks.answered(answer.status_code)}{' '}
            {texts.webhooks.took(answer.duration_ms)} {answer.failure?.message}
          </p>
        )}
      </div>
      <Problem error={task.error} />
    </section>
  );
}
