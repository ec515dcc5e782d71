import { useEffect, useState } from 'preact/hooks';
import type { PageProps } from './app.tsx';
import { Choice, Field, Form, useTask } from './forms.tsx';
import { Linking } from './linking.tsx';
import { useLoaded } from './loaded.ts';
import { open } from './router.ts';
import type { Channel, Session } from './session.ts';
import { channelName, texts } from './texts.ts';
import { Page, Problem, Shown } from './ui.tsx';

/** Connects a number: which network, which number, which way; then what to do on the phone. */
export function Connect({ session, rest: [channel, identifier] }: PageProps) {
  const isLinking = channel !== undefined && identifier !== undefined;
  return (
    <Page title={texts.connect.title}>
      {isLinking ? (
        <Linking
          key={`${channel}/${identifier}`}
          session={session}
          channel={channel}
          identifier={identifier}
        />
      ) : (
        <Start session={session} />
      )}
    </Page>
  );
}

function Start({ session }: { session: Session }) {
  const loaded = useLoaded(
    async () => (await session.client.call('list_channels')).channels,
    [session],
  );
  return (
    <Shown loaded={loaded}>
      {(channels) => (
        <NumberForm session={session} channels={channels.filter((one) => one.available)} />
      )}
    </Shown>
  );
}

function NumberForm({ session, channels }: { session: Session; channels: readonly Channel[] }) {
  const [channel, setChannel] = useState(channels[0]?.channel ?? '');
  const [identifier, setIdentifier] = useState('');
  const methods = channels.find((one) => one.channel === channel)?.capabilities?.link_methods ?? [];
  const [method, setMethod] = useState('');
  // biome-ignore lint/correctness/useExhaustiveDependencies: another channel has other methods
  useEffect(() => setMethod(methods[0] ?? ''), [channel]);
  const task = useTask();
  if (channels.length === 0) return <Problem error={texts.connect.noChannel} />;
  const start = () => {
    const body = { identifier: identifier.trim(), link_method: method };
    return session.client.call('connect', { path: { channel }, body });
  };
  return (
    <Form
      class="card"
      task={task}
      run={() => task.run(start, (connection) => open('connect', channel, connection.identifier))}
      action={texts.connect.start}
      onCancel={() => open('accounts')}
    >
      <Choice
        label={texts.connect.channel}
        value={channel}
        options={channels.map((one) => [one.channel, channelName(one.channel)])}
        onChange={setChannel}
      />
      <Field
        label={texts.connect.number}
        type="tel"
        value={identifier}
        onInput={setIdentifier}
        hint={session.isTest ? texts.connect.testNumber : texts.connect.numberHint}
        placeholder="+15550001111"
        isRequired
      />
      <fieldset class="field">
        <legend>{texts.connect.method}</legend>
        {methods.map((one) => (
          <label key={one} class="option">
            <input
              type="radio"
              name="method"
              checked={one === method}
              onChange={() => setMethod(one)}
            />
            {texts.connect.methods[one] ?? one}
          </label>
        ))}
      </fieldset>
    </Form>
  );
}
