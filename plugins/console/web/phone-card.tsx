import { useState } from 'preact/hooks';
import type { components } from '../../../client/generated/schema.ts';
import { Choice, useTask } from './forms.tsx';
import { useLoaded } from './loaded.ts';
import type { Session } from './session.ts';
import { channelName, texts } from './texts.ts';
import { Badge, Button, Problem, Shown, Time, type Tone } from './ui.tsx';

type Phone = components['schemas']['SimulatedPhone'];

const tones: Readonly<Record<Phone['state'], Tone>> = {
  idle: 'plain',
  pairing: 'wait',
  code_sent: 'wait',
  password_required: 'wait',
  linked: 'good',
  logged_out: 'bad',
};

const behaviours = ['read', 'deliver', 'sent', 'fail', 'hang'] as const;

/** One simulated phone: its state, what its owner can do, how it answers, and what reached it. */
export function PhoneCard(props: { session: Session; phone: Phone; onChange: () => void }) {
  const { session, phone, onChange } = props;
  const { client } = session;
  const task = useTask();
  const place = { path: { phone: phone.phone_number }, query: { channel: phone.channel } };
  const scan = () => task.run(() => client.call('scan_with_simulated_phone', place), onChange);
  type Raised = Parameters<typeof client.call<'raise_simulated_phone_event'>>[1]['body'];
  const raise = (body: Raised) =>
    task.run(() => client.call('raise_simulated_phone_event', { ...place, body }), onChange);
  const code = phone.login_code ?? phone.pairing_code;
  const actions: readonly (readonly [string, Raised])[] = [
    [texts.phones.drop, { type: 'drop' }],
    [texts.phones.logOut, { type: 'log_out' }],
    [texts.phones.restrict, { type: 'restrict', scope: 'all' }],
    [texts.phones.restrictNew, { type: 'restrict', scope: 'new_contacts' }],
    [texts.phones.lift, { type: 'lift_restriction' }],
  ];
  return (
    <li class="card">
      <div class="card-head">
        <div>
          <h2>
            <bdi>{phone.phone_number}</bdi>
          </h2>
          <p class="quiet">{channelName(phone.channel)}</p>
        </div>
        <Badge tone={tones[phone.state]}>{texts.phones.states[phone.state]}</Badge>
      </div>
      {code !== null && (
        <p>
          {texts.phones.code} <code>{code}</code>
        </p>
      )}
      <div class="actions">
        {phone.state === 'pairing' && (
          <Button tone="main" onClick={scan} isBusy={task.isBusy}>
            {texts.phones.scan}
          </Button>
        )}
        {phone.state === 'linked' &&
          actions.map(([text, body]) => (
            <Button key={text} onClick={() => raise(body)} isBusy={task.isBusy}>
              {text}
            </Button>
          ))}
      </div>
      <Problem error={task.error} />
      <Behaviour session={session} place={place} />
      <Outbox session={session} place={place} />
    </li>
  );
}

interface Placed {
  readonly session: Session;
  readonly place: { readonly path: { phone: string }; readonly query: { channel: string } };
}

/** What becomes of messages to the phone's contacts. */
function Behaviour({ session, place }: Placed) {
  const [chosen, choose] = useState<'' | (typeof behaviours)[number]>('');
  const task = useTask();
  const change = (send: typeof chosen) => {
    if (send === '') return choose(send);
    void task.run(
      () => session.client.call('put_simulated_phone', { ...place, body: { send } }),
      () => choose(send),
    );
  };
  return (
    <>
      <Choice
        label={texts.phones.behaviour}
        value={chosen}
        options={[
          ['', texts.phones.asItIs],
          ...behaviours.map((one) => [one, texts.phones.behaviours[one]] as const),
        ]}
        onChange={change}
        isDisabled={task.isBusy}
      />
      <Problem error={task.error} />
    </>
  );
}

function Outbox({ session, place }: Placed) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{texts.phones.outbox}</summary>
      {isOpen && <Sent session={session} place={place} />}
    </details>
  );
}

/** What the network has accepted from the phone's account, the newest first. */
function Sent({ session, place }: Placed) {
  const { phone } = place.path;
  const loaded = useLoaded(
    async () => {
      const query = { ...place.query, limit: 50 };
      const named = { ...place, query };
      return (await session.client.call('list_simulated_outbox', named)).messages.toReversed();
    },
    [session, phone, place.query.channel],
    5_000,
  );
  return (
    <Shown loaded={loaded}>
      {(messages) =>
        messages.length === 0 ? (
          <p class="quiet">{texts.phones.nothingSent}</p>
        ) : (
          <ul class="list">
            {messages.map(({ network_id, to, text, at, attempts }) => (
              <li key={network_id}>
                <bdi>{to}</bdi> · <Time at={at} />
                {attempts > 1 && ` · ${texts.phones.attempts(attempts)}`}
                <p dir="auto">{text}</p>
              </li>
            ))}
          </ul>
        )
      }
    </Shown>
  );
}
