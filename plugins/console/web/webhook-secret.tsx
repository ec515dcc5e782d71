import { useEffect, useState } from 'preact/hooks';
import { Copy } from './copy.tsx';
import { Confirm, useTask } from './forms.tsx';
import type { Session } from './session.ts';
import { texts } from './texts.ts';
import { Button, Problem } from './ui.tsx';

type Asked = 'rotate' | 'off' | null;

interface Answer {
  readonly signing_secret: string | null;
  readonly signing_secret_created_at: string | null;
}

/** The signing secret: shown after a click, rotated, or turned off. */
export function WebhookSecret(props: {
  session: Session;
  id: string;
  /** When the secret of now was made; absent while signing is off. */
  madeAt: string | undefined;
  onChange: () => void;
}) {
  const { client } = props.session;
  const { madeAt } = props;
  const isOn = madeAt !== undefined;
  const input = { path: { webhookId: props.id } };
  const [answer, setAnswer] = useState<Answer | null>(null);
  const secret = answer?.signing_secret;
  const [asked, ask] = useState<Asked>(null);
  const task = useTask();
  // On changes alone: a secret that was just made is shown before signing is read as on.
  useEffect(() => {
    setAnswer((shown) => (shown?.signing_secret_created_at === madeAt ? shown : null));
  }, [madeAt]);
  const take = (answer: Answer) => {
    setAnswer(answer);
    props.onChange();
  };
  const read = () => client.call('get_webhook_signing_secret', input);
  const rotate = async () => take(await client.call('rotate_webhook_signing_secret', input));
  const show = () => task.run(async () => take(await read()));
  const turnOn = () =>
    task.run(async () => {
      const now = await read();
      // Another may have turned it on since the last read: a rotation would replace a secret in use.
      if (now.signing_enabled) take(now);
      else await rotate();
    });
  return (
    <section class="card">
      <h2>{texts.webhooks.secret}</h2>
      <p>{isOn ? texts.webhooks.signed : texts.webhooks.unsigned}</p>
      {secret && <Copy value={secret} label={texts.webhooks.copySecret} />}
      <Problem error={task.error} />
      <div class="actions">
        {isOn ? (
          <>
            {secret ? (
              <Button onClick={() => setAnswer(null)}>{texts.webhooks.hideSecret}</Button>
            ) : (
              <Button onClick={show} isBusy={task.isBusy}>
                {texts.webhooks.showSecret}
              </Button>
            )}
            <Button onClick={() => ask('rotate')}>{texts.webhooks.rotate}</Button>
            <Button onClick={() => ask('off')}>{texts.webhooks.turnOff}</Button>
          </>
        ) : (
          <Button onClick={turnOn} isBusy={task.isBusy}>
            {texts.webhooks.turnOn}
          </Button>
        )}
      </div>
      {asked === 'rotate' && (
        <Confirm
          title={texts.webhooks.rotateTitle}
          text={texts.webhooks.rotateText}
          action={texts.webhooks.rotate}
          run={rotate}
          onClose={() => ask(null)}
        />
      )}
      {asked === 'off' && (
        <Confirm
          title={texts.webhooks.offTitle}
          text={texts.webhooks.offText}
          action={texts.webhooks.turnOff}
          run={async () => take(await client.call('turn_off_webhook_signing', input))}
          onClose={() => ask(null)}
        />
      )}
    </section>
  );
}
