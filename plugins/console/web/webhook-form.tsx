import { useState } from 'preact/hooks';
import type { components } from '../../../client/generated/schema.ts';
import { ShownOnce } from './copy.tsx';
import { Dialog, Field, Form, Option, Options, useTask } from './forms.tsx';
import { useLoaded } from './loaded.ts';
import type { Session } from './session.ts';
import { texts } from './texts.ts';
import { Shown } from './ui.tsx';

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
      <ShownOnce
        title={texts.webhooks.secret}
        text={texts.webhooks.secretOnce}
        value={secret}
        label={texts.webhooks.copySecret}
        onClose={props.onClose}
      />
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
  const [ticked, choose] = useState<readonly string[]>(atFirst);
  const chosen = names.filter((event) => ticked.includes(event));
  const [isOn, setOn] = useState(webhook?.enabled ?? true);
  const [hasRetries, setRetries] = useState(webhook?.retries_enabled ?? true);
  const [isSigned, setSigned] = useState(true);
  const task = useTask();
  const save = async () => {
    const whole = { url: url.trim(), subscribed_to: chosen };
    const rules = { enabled: isOn, retries_enabled: hasRetries };
    const given = name.trim();
    if (webhook !== undefined) {
      // A name is given always: without a URL and events there has to be one. Even the same URL would end its pause.
      const body = {
        name: name === webhook.name ? (props.webhook ?? webhook).name : given,
        ...(whole.url !== webhook.url && { url: whole.url }),
        ...(chosen.join() !== atFirst.join() && { subscribed_to: whole.subscribed_to }),
        ...(isOn !== webhook.enabled && { enabled: isOn }),
        ...(hasRetries !== webhook.retries_enabled && { retries_enabled: hasRetries }),
      };
      await session.client.call('update_webhook', { path: { webhookId: webhook.id }, body });
      return null;
    }
    const named = { ...whole, ...rules, ...(given !== '' && { name: given }) };
    const input = { body: { ...named, generate_signing_secret: isSigned } };
    return (await session.client.call('create_webhook', input)).signing_secret ?? null;
  };
  const submit = () =>
    task.run(async () => {
      const secret = await save();
      props.onDone();
      if (secret === null) onClose();
      else props.onSecret(secret);
    });
  return (
    <Form task={task} run={submit} action={texts.contact.save} onCancel={onClose}>
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
        {...(webhook === undefined ? { hint: texts.webhooks.nameHint } : { isRequired: true })}
      />
      <Options
        label={texts.webhooks.events}
        chosen={chosen}
        options={props.events.map(([event, description]) => [event, event, description])}
        onChange={choose}
      />
      <Option text={texts.webhooks.retries} isChecked={hasRetries} onChange={setRetries} />
      <Option text={texts.webhooks.on} isChecked={isOn} onChange={setOn} />
      {webhook === undefined && (
        <Option text={texts.webhooks.sign} isChecked={isSigned} onChange={setSigned} />
      )}
    </Form>
  );
}
