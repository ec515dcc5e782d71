import { useState } from 'preact/hooks';
import { Choice, Field, submitting, useTask } from './forms.tsx';
import { useLoaded } from './loaded.ts';
import type { Session } from './session.ts';
import { texts } from './texts.ts';
import { count, fullTime, today } from './times.ts';
import { Bar, Button, Problem } from './ui.tsx';

const everyMs = 2_000;
const choices = ['all', 'failed', 'suppressed'] as const;

/** Delivers anew what an address has missed since a day, and shows how far that is. */
export function WebhookRecover({ session, id }: { session: Session; id: string }) {
  const { client } = session;
  const path = { webhookId: id };
  const [day, setDay] = useState(() => today());
  const [status, setStatus] = useState<(typeof choices)[number]>('all');
  const [isRunning, setRunning] = useState(false);
  const loaded = useLoaded(
    async () => {
      const { job } = await client.call('get_webhook_recovery', { path });
      setRunning(job?.status === 'running');
      return { job };
    },
    [session, id],
    isRunning ? everyMs : null,
  );
  const task = useTask();
  const start = () =>
    task.run(async () => {
      const since = new Date(`${day}T00:00:00`).toISOString();
      // Where the answer is lost it may have begun all the same.
      await client
        .call('recover_webhook', { path, body: { since, status } })
        .finally(loaded.reload);
    });
  const job = loaded.value?.job ?? null;
  const words = texts.webhooks.recovery;
  return (
    <section class="card">
      <h2>{words.title}</h2>
      <form class="fields" onSubmit={submitting(start)}>
        <Field label={words.since} type="date" value={day} onInput={setDay} isRequired />
        <Choice
          label={words.what}
          value={status}
          options={choices.map((one) => [one, words.choices[one]])}
          onChange={setStatus}
        />
        <Button type="submit" isBusy={task.isBusy} isDisabled={isRunning}>
          {words.start}
        </Button>
      </form>
      <Problem error={task.error} />
      <Problem error={loaded.error} lost={texts.away} />
      {job !== null && (
        <div role="status">
          <Bar
            value={job.recovered}
            of={job.total}
            text={words.progress(count(job.recovered), count(job.total))}
          />
          <p class="quiet">
            {job.finished_at === null ? words.running : words.done(fullTime(job.finished_at))}
          </p>
        </div>
      )}
    </section>
  );
}
