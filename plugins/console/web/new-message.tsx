import { useRef, useState } from 'preact/hooks';
import { Hindrances, ofAccount, useHindrancesOfKey } from './composer.tsx';
import { Choice, Dialog, Field, Form, useTask } from './forms.tsx';
import { useAccounts, useLoaded } from './loaded.ts';
import { open } from './router.ts';
import { type Account, type Session, sendOnce } from './session.ts';
import { channelName, texts } from './texts.ts';
import { fullTime } from './times.ts';
import { Button, Shown } from './ui.tsx';

/** Whether the account takes sends: what a reconnecting one has waits in its queue. */
function takesSends({ status }: Account): boolean {
  return status === 'connected' || status === 'connecting';
}

/** The first message to a number, or to an address where the network has such. */
export function NewMessage({ session, onClose }: { session: Session; onClose: () => void }) {
  const loaded = useAccounts(session, 10_000);
  /** What is typed stays, whatever becomes of the accounts. */
  const isBegun = useRef(false);
  return (
    <Dialog title={texts.conversations.newMessage} onClose={onClose}>
      <Shown loaded={loaded}>
        {(all) => {
          isBegun.current ||= all.some(takesSends);
          return isBegun.current ? (
            <Fields session={session} all={all} onClose={onClose} />
          ) : (
            <>
              <p>{texts.conversations.noAccount}</p>
              <div class="actions">
                <Button onClick={onClose}>{texts.close}</Button>
                <Button tone="main" onClick={() => open('connect')}>
                  {texts.accounts.connect}
                </Button>
              </div>
            </>
          );
        }}
      </Shown>
    </Dialog>
  );
}

function Fields(props: { session: Session; all: readonly Account[]; onClose: () => void }) {
  const { session, all, onClose } = props;
  const [accountId, setAccountId] = useState(() => {
    const first = all.find(({ status }) => status === 'connected') ?? all.find(takesSends);
    return first?.id ?? '';
  });
  const chosen = all.find(({ id }) => id === accountId) ?? null;
  const channels = useLoaded(() => session.client.call('list_channels'), [session]);
  const channel = channels.value?.channels.find((one) => one.channel === chosen?.channel);
  const kind = channel?.capabilities?.recipients === 'address' ? 'address' : 'phone';
  const [to, setTo] = useState('');
  const [text, setText] = useState('');
  const task = useTask();
  const send = () => {
    const target = kind === 'phone' ? { phone: to.trim() } : { address: to.trim() };
    const body = { to: target, account_id: accountId, text };
    const what = JSON.stringify(body);
    return sendOnce(session, session.keys, what, body, task.error !== null);
  };
  const follow = (sent: Awaited<ReturnType<typeof send>>) => {
    onClose();
    open('conversations', sent.account_id, sent.contact_id);
  };
  return (
    <Form
      task={task}
      run={() => task.run(send, follow)}
      action={texts.conversations.send}
      lost={texts.conversations.lost}
      onCancel={onClose}
    >
      <Choice
        label={texts.conversations.from}
        value={accountId}
        options={all
          .filter((one) => one === chosen || takesSends(one))
          .map((one) => [one.id, `${one.identifier} · ${channelName(one.channel)}`])}
        onChange={setAccountId}
      />
      <Field
        label={texts.conversations.to[kind]}
        type={kind === 'phone' ? 'tel' : 'text'}
        value={to}
        onInput={setTo}
        placeholder={kind === 'phone' ? '+12025550123' : ''}
        isRequired
      />
      <label class="field">
        <span>{texts.conversations.text}</span>
        <textarea
          dir="auto"
          rows={3}
          required
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <Hindrances
        of={[
          ...useHindrancesOfKey(session),
          ...ofAccount(chosen),
          ...(chosen === null ? [] : ofFirst(chosen)),
        ]}
      />
    </Form>
  );
}

/** Why a first message from the account would be refused, and no other. */
function ofFirst({ limits, new_contacts_blocked_until: until }: Account): readonly string[] {
  return [
    ...(limits.new_contacts < limits.new_contacts_cap
      ? []
      : [texts.conversations.hindrances.newContacts]),
    ...(until === null ? [] : [`${texts.accounts.newContactsBlocked} ${fullTime(until)}`]),
  ];
}
