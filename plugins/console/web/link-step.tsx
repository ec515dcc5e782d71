import { useEffect, useState } from 'preact/hooks';
import { Field, submitting } from './forms.tsx';
import type { Connection } from './session.ts';
import { channelName, texts } from './texts.ts';
import { Button } from './ui.tsx';

type Step = NonNullable<Connection['step']>;

/** What the phone's owner does now: scan, type a code, or tell the code that the network has sent. */
export function LinkStep(props: {
  step: Step;
  channel: string;
  /** Hands in what is asked for; absent where this is not the place for it. */
  submit?: (field: string, value: string) => Promise<void>;
  isBusy?: boolean;
}) {
  const { step, channel } = props;
  switch (step.type) {
    case 'show_qr':
      return (
        <div class="link-step">
          {step.image !== undefined && <img class="qr" src={step.image} alt={texts.connect.qr} />}
          <div>
            <Steps steps={texts.connect.qrSteps(channelName(channel), channel)} />
            <Countdown at={step.expires_at} said={texts.connect.renews} />
          </div>
        </div>
      );
    case 'show_code':
      return (
        <div class="link-step">
          <p class="pairing-code">{step.code}</p>
          <div>
            <Steps steps={texts.connect.codeSteps(channelName(channel))} />
            <Countdown at={step.expires_at} said={texts.connect.ends} />
          </div>
        </div>
      );
    case 'ask':
      return props.submit === undefined ? null : (
        <Ask
          key={step.field}
          field={step.field ?? 'code'}
          label={step.label ?? ''}
          isSecret={step.secret === true}
          submit={props.submit}
          isBusy={props.isBusy ?? false}
        />
      );
    case 'expired':
      return null;
  }
}

function Steps({ steps }: { steps: readonly string[] }) {
  return (
    <ol>
      {steps.map((step) => (
        <li key={step}>{step}</li>
      ))}
    </ol>
  );
}

/** How long the shown code is good. */
function Countdown({ at, said }: { at: string | undefined; said: (seconds: number) => string }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  if (at === undefined) return null;
  const seconds = Math.max(0, Math.round((Date.parse(at) - now) / 1_000));
  return (
    <p class="quiet" aria-live="off">
      {said(seconds)}
    </p>
  );
}

/** What is known of the fields that networks of our own ask for. */
const hints: Readonly<Record<string, string>> = texts.connect.fieldHints;

function Ask(props: {
  field: string;
  label: string;
  isSecret: boolean;
  submit: (field: string, value: string) => Promise<void>;
  isBusy: boolean;
}) {
  const [value, setValue] = useState('');
  const { field } = props;
  return (
    <form onSubmit={submitting(() => props.submit(field, props.isSecret ? value : value.trim()))}>
      <Field
        label={props.label}
        type={props.isSecret ? 'password' : 'text'}
        value={value}
        onInput={setValue}
        hint={hints[field]}
        isRequired
      />
      <Button type="submit" tone="main" isBusy={props.isBusy}>
        {texts.connect.submit}
      </Button>
    </form>
  );
}
