import { useState } from 'preact/hooks';
import type { components } from '../../../client/generated/schema.ts';
import { Copy } from './copy.tsx';
import { useLoaded } from './loaded.ts';
import type { Session } from './session.ts';
import { texts } from './texts.ts';
import { Button, Dialog, Field, Option, Problem, Shown, useTask } from './ui.tsx';

type Listed = components['schemas']['ListedWebhook'];

interface FormProps {
  readonly session: Session;
  /** The one to change; absent: a new one. */
  readonly webhook?: Listed;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** Adds an address or changes one; the secret of a new one is shown once. */
export function WebhookForm(props: FormProps) {
  const [secret, setSecret] = useState<string | null>(null);
  const { client } = props.session;
  const events = useLoaded(() => client.call('list_webhook_events'), [props.session]);
  const title = props.webhook === undefined ? texts.webhooks.add : texts.webhooks.edit;
  if (secret !== null) {
    return (
      <Dialog title={texts.webhooks.secret} onClose={props.onClose}>
        <p>{texts.webhooks.secretOnce}</p>
        <Copy value={secret} label={texts.webhooks.copySecret} />
        <div class="actions">
          <Button tone="main" onClick={props.onClose}>
            {texts.close}
          </Button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title={title} onClose={props.onClose}>
      <Shown loaded={events}>
        {({ events, descriptions }) => (
          <Fields
            {...props}
            events={events.map((event) => [event, descriptions[event] ?? ''])}
            onSecret={setSecret}
          />
        )}
      </Shown>
    </Dialog>
  );
}

function Fields(
  props: FormProps & {
    events: readonly (readonly [string, string])[];
    onSecret: (secret: string) => void;
  },
) {
  const { session, onClose } = props;
  /** As it was when the form opened: the page reads it anew meanwhile. */
  const [webhook] = useState(props.webhook);
  const names = props.events.map(([event]) => event);
  const [url, setUrl] = useState(webhook?.url ?? '');
  const [name, setName] = useState(webhook?.name ?? '');
  /** Of those that are shown: what it has beside them cannot be chosen any more. */
  const [atFirst] = useState(() =>
    names.filter((event) => webhook?.subscribed_to.some((one) => one === event) ?? true),
  );
  const [chosen, choose] = useState<readonly string[]>(atFirst);
  const [isOn, setOn] = useState(webhook?.enabled ?? true);
  const [hasRetries, setRetries] = useState(webhook?.retries_enabled ?? true);
  const [isSigned, setSigned] = useState(true);
  const task = useTask();
  const save = async () => {
    const whole = { url: url.trim(), subscribed_to: [...chosen] };
    const rules = { enabled: isOn, retries_enabled: hasRetries };
    const given = name === webhook?.name ? name : name.trim();
    const named = given === '' ? {} : { name: given };
    if (webhook !== undefined) {
      // A URL, even the same, would end its pause.
      const body = {
        name: webhook.name,
        ...named,
        ...(whole.url !== webhook.url && { url: whole.url }),
        ...(chosen.join() !== atFirst.join() && { subscribed_to: whole.subscribed_to }),
        ...(isOn !== webhook.enabled && { enabled: isOn }),
        ...(hasRetries !== webhook.retries_enabled && { retries_enabled: hasRetries }),
      };
      await session.client.call('update_webhook', { path: { webhookId: webhook.id }, body });
      return null;
    }
    const input = { body: { ...whole, ...rules, ...named, generate_signing_secret: isSigned } };
    return (await session.client.call('create_webhook', input)).signing_secret ?? null;
  };
  const submit = () =>
    task.run(async () => {
      const secret = await save();
      props.onDone();
      if (secret === null) onClose();
      else props.onSecret(secret);
    });
  const toggle = (event: string, isChosen: boolean) =>
    choose(names.filter((one) => (one === event ? isChosen : chosen.includes(one))));
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Field
        label={texts.webhooks.url}
        type="url"
        value={url}
        onInput={setUrl}
        placeholder="https://example.com/hook"
        isRequired
      />
      <Field
        label={texts.webhooks.name}
        value={name}
        onInput={setName}
        hint={texts.webhooks.nameHint}
      />
      <fieldset class="field">
        <legend>{texts.webhooks.events}</legend>
        {props.events.map(([event, description]) => (
          <Option
            key={event}
            text={event}
            hint={description}
            isChecked={chosen.includes(event)}
            onChange={(isChosen) => toggle(event, isChosen)}
          />
        ))}
      </fieldset>
      <Option text={texts.webhooks.retries} isChecked={hasRetries} onChange={setRetries} />
      <Option text={texts.webhooks.on} isChecked={isOn} onChange={setOn} />
      {webhook === undefined && (
        <Option text={texts.webhooks.sign} isChecked={isSigned} onChange={setSigned} />
      )}
      <Problem error={task.error} />
      <div class="actions">
        <Button onClick={onClose}>{texts.cancel}</Button>
        <Button type="submit" tone="main" isBusy={task.isBusy}>
          {texts.contact.save}
        </Button>
      </div>
    </form>
  );
}
