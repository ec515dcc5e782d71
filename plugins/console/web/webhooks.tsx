import { useState } from 'preact/hooks';
import type { PageProps } from './app.tsx';
import { useLoaded } from './loaded.ts';
import { address } from './router.ts';
import { texts } from './texts.ts';
import { Button, Empty, Page, Shown } from './ui.tsx';
import { Webhook } from './webhook.tsx';
import { WebhookForm } from './webhook-form.tsx';
import { Health } from './webhook-health.tsx';

const everyMs = 10_000;

/** The addresses that get events, each with its health; and one of them whole. */
export function Webhooks(props: PageProps) {
  const { session, rest } = props;
  const [id] = rest;
  const [isAdding, setAdding] = useState(false);
  const loaded = useLoaded(
    async () => (await session.client.call('list_webhooks')).webhooks,
    [session, id],
    everyMs,
  );
  if (id !== undefined) return <Webhook key={id} session={session} id={id} />;
  const add = (
    <Button tone="main" onClick={() => setAdding(true)}>
      {texts.webhooks.add}
    </Button>
  );
  return (
    <Page title={texts.menu.webhooks} actions={add}>
      <Shown loaded={loaded}>
        {(webhooks) =>
          webhooks.length === 0 ? (
            <Empty hint={texts.webhooks.emptyHint}>{texts.webhooks.empty}</Empty>
          ) : (
            <ul class="cards">
              {webhooks.map((webhook) => (
                <li key={webhook.id}>
                  <div class="card-head">
                    <div>
                      <h2>
                        <a href={address('webhooks', webhook.id)}>
                          <bdi>{webhook.name}</bdi>
                        </a>
                      </h2>
                      <p>
                        <bdi class="url">{webhook.url}</bdi>
                      </p>
                    </div>
                    <Health enabled={webhook.enabled} health={webhook.health} />
                  </div>
                  <p class="quiet">{webhook.subscribed_to.join(', ')}</p>
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
      {isAdding && (
        <WebhookForm session={session} onDone={loaded.reload} onClose={() => setAdding(false)} />
      )}
    </Page>
  );
}
