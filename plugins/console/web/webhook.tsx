import { useState } from 'preact/hooks';
import { Deliveries } from './deliveries.tsx';
import { Confirm, useTask } from './forms.tsx';
import { useLoaded } from './loaded.ts';
import { address, open } from './router.ts';
import type { Session } from './session.ts';
import { texts } from './texts.ts';
import { fullTime } from './times.ts';
import { Button, Empty, Page, Problem, Shown } from './ui.tsx';
import { WebhookForm } from './webhook-form.tsx';
import { Health } from './webhook-health.tsx';
import { WebhookRecover } from './webhook-recover.tsx';
import { WebhookSecret } from './webhook-secret.tsx';
import { WebhookTest } from './webhook-test.tsx';

/** One address: why it is paused, what failed last, a test, its secret and its log. */
export function Webhook({ session, id }: { session: Session; id: string }) {
  const { client } = session;
  const path = { webhookId: id };
  const [shown, show] = useState<'edit' | 'delete' | null>(null);
  const loaded = useLoaded(
    async () => {
      const [{ webhooks }, { health }] = await Promise.all([
        client.call('list_webhooks'),
        client.call('get_webhook_health', { path }),
      ]);
      return { webhook: webhooks.find((one) => one.id === id) ?? null, health };
    },
    [session, id],
    5_000,
  );
  const task = useTask();
  const enable = () => task.run(() => client.call('reenable_webhook', { path }), loaded.reload);
  const back = <a href={address('webhooks')}>{texts.webhooks.all}</a>;
  return (
    <Page title={loaded.value?.webhook?.name ?? texts.webhooks.one} actions={back}>
      <Shown loaded={loaded}>
        {({ webhook, health }) =>
          webhook === null ? (
            <Empty>{texts.webhooks.gone}</Empty>
          ) : (
            <div class="list">
              <section class="card">
                <div class="card-head">
                  <bdi class="url">{webhook.url}</bdi>
                  <Health enabled={webhook.enabled} health={health ?? webhook.health} />
                </div>
                {health?.disabled_reason != null && <p class="why">{health.disabled_reason}</p>}
                {health?.last_failure != null && (
                  <p>
                    {texts.webhooks.lastFailure(fullTime(health.last_failure.at))}{' '}
                    {health.last_failure.message}
                  </p>
                )}
                <p class="quiet">{webhook.subscribed_to.join(', ')}</p>
                <Problem error={task.error} />
                <div class="actions">
                  {health?.is_disabled === true && (
                    <Button tone="main" onClick={enable} isBusy={task.isBusy}>
                      {texts.webhooks.enable}
                    </Button>
                  )}
                  <Button onClick={() => show('edit')}>{texts.webhooks.edit}</Button>
                  <Button onClick={() => show('delete')}>{texts.webhooks.remove}</Button>
                </div>
              </section>
              <WebhookTest session={session} id={id} events={webhook.subscribed_to} />
              <WebhookSecret
                session={session}
                id={id}
                madeAt={webhook.signing_secret_created_at}
                onChange={loaded.reload}
              />
              <WebhookRecover session={session} id={id} />
              <Deliveries session={session} id={id} events={webhook.subscribed_to} />
              {shown === 'edit' && (
                <WebhookForm
                  session={session}
                  webhook={webhook}
                  onDone={loaded.reload}
                  onClose={() => show(null)}
                />
              )}
              {shown === 'delete' && (
                <Confirm
                  title={texts.webhooks.removeTitle(webhook.name)}
                  text={texts.webhooks.removeText}
                  action={texts.webhooks.remove}
                  run={() => client.call('delete_webhook', { path })}
                  onDone={() => open('webhooks')}
                  onClose={() => show(null)}
                />
              )}
            </div>
          )
        }
      </Shown>
    </Page>
  );
}
