import { useState } from 'preact/hooks';
import { Copy } from './copy.tsx';
import { useTask } from './forms.tsx';
import { LinkStep } from './link-step.tsx';
import { useLoaded } from './loaded.ts';
import { open } from './router.ts';
import type { Connection, Session } from './session.ts';
import { texts } from './texts.ts';
import { shortTime } from './times.ts';
import { Badge, Button, Problem, Shown } from './ui.tsx';

const everyMs = 1_500;

/** One number while it is being linked: what to do on the phone, and how it ended. */
export function Linking(props: { session: Session; channel: string; identifier: string }) {
  const { session, channel, identifier } = props;
  const path = { channel, identifier };
  const loaded = useLoaded(
    () => session.client.call('get_connection_status', { path }),
    [session, channel, identifier],
    everyMs,
  );
  const task = useTask();
  const again = (method: string) =>
    task.run(async () => {
      const body = { identifier, link_method: method };
      await session.client.call('connect', { path: { channel }, body });
      loaded.reload();
    });
  const scan = () =>
    task.run(async () => {
      const input = { path: { phone: identifier }, query: { channel } };
      await session.client.call('scan_with_simulated_phone', input);
      loaded.reload();
    });
  const submit = (field: string, value: string) =>
    task.run(async () => {
      await session.client.call('submit_connection_step', { path, body: { field, value } });
      loaded.reload();
    });
  return (
    <div class="card linking" aria-live="polite">
      <h2>
        <bdi>{identifier}</bdi>
      </h2>
      <Shown loaded={loaded}>
        {(connection) => (
          <>
            <Outcome connection={connection} />
            {connection.step !== null && connection.status !== 'connected' && (
              <LinkStep
                step={connection.step}
                channel={channel}
                submit={submit}
                isBusy={task.isBusy}
              />
            )}
            {isScannable(connection) && (
              <ShareLink session={session} channel={channel} identifier={identifier} />
            )}
            <Problem error={task.error} />
            <div class="actions">
              {session.isTest && isScannable(connection) && (
                <Button onClick={scan} isBusy={task.isBusy}>
                  {texts.connect.scan}
                </Button>
              )}
              {isOver(connection) && (
                <Button
                  tone="main"
                  onClick={() => again(connection.link_method)}
                  isBusy={task.isBusy}
                >
                  {texts.connect.again}
                </Button>
              )}
              {connection.status === 'connected' ? (
                <>
                  <Button onClick={() => open('accounts')}>{texts.menu.accounts}</Button>
                  <Button tone="main" onClick={() => open('conversations')}>
                    {texts.menu.conversations}
                  </Button>
                </>
              ) : (
                <Button onClick={() => open('accounts')}>{texts.connect.later}</Button>
              )}
            </div>
          </>
        )}
      </Shown>
    </div>
  );
}

function Outcome({ connection }: { connection: Connection }) {
  const { status, step, identifier } = connection;
  if (status === 'connected') {
    return (
      <p>
        <Badge tone="good">{texts.accounts.statuses.connected}</Badge>{' '}
        {texts.connect.connected(identifier)}
      </p>
    );
  }
  if (isOver(connection)) {
    const text = step?.type === 'expired' ? texts.connect.expired : texts.connect.failed;
    return <Problem error={connection.detail ?? text} />;
  }
  return <p class="quiet">{connection.detail ?? texts.connect.waiting}</p>;
}

function isOver({ status, step }: Connection): boolean {
  return step?.type === 'expired' || ['disconnected', 'not_initialized', 'error'].includes(status);
}

function isScannable({ step }: Connection): boolean {
  return step?.type === 'show_qr' || step?.type === 'show_code';
}

/** Makes a link for whoever holds the phone, where that is somebody else. */
function ShareLink(props: { session: Session; channel: string; identifier: string }) {
  const { session, channel, identifier } = props;
  const [made, setMade] = useState<{ url: string; expires_at: string } | null>(null);
  const task = useTask();
  const make = () =>
    task.run(async () => {
      const path = { channel, identifier };
      setMade(await session.client.call('create_connection_link', { path }));
    });
  return (
    <div class="share">
      <Problem error={task.error} />
      {made !== null && (
        <>
          <Copy value={made.url} label={texts.link.copy} />
          <p class="quiet">
            {texts.link.hint} {texts.link.until(shortTime(made.expires_at))}
          </p>
        </>
      )}
      <Button tone="link" onClick={make} isBusy={task.isBusy}>
        {made === null ? texts.link.make : texts.link.makeAnother}
      </Button>
    </div>
  );
}
