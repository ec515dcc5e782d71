import { useState } from 'preact/hooks';
import { Hindrances, ofCaps, ofKey } from './composer.tsx';
import { Choice, Dialog, Field, Form, useTask } from './forms.tsx';
import { useAccounts } from './loaded.ts';
import { open } from './router.ts';
import { type Account, type Session, sendOnce } from './session.ts';
import { channelName, texts } from './texts.ts';
import { fullTime } from './times.ts';
import { Button, Shown } from './ui.tsx';

/** The first message to a number. */
export function NewMessage({ session, onClose }: { session: Session; onClose: () => void }) {
  const loaded = useAccounts(session);
  return (
    <Dialog title={texts.conversations.newMessage} onClose={onClose}>
      <Shown loaded={loaded}>
        {(all) => {
          const accounts = all.filter(({ status }) => status === 'connected');
          return accounts.length === 0 ? (
            <>
              <p>{texts.conversations.noAccount}</p>
              <div class="actions">
                <Button onClick={onClose}>{texts.close}</Button>
                <Button tone="main" onClick={() => open('connect')}>
                  {texts.accounts.connect}
                </Button>
              </div>
            </>
          ) : (
            <Fields session={session} accounts={accounts} onClose={onClose} />
          );
        }}
      </Shown>
    </Dialog>
  );
}

function Fields(props: { session: Session; accounts: readonly Account[]; onClose: () => void }) {
  const { session, accounts, onClose } = props;
  const [accountId, setAccountId] = useState(accounts[0]?.id ?? '');
  const [phone, setPhone] = useState('');
  const [text, setText] = useState('');
  const task = useTask();
  const send = async () => {
    const body = { to: { phone: phone.trim() }, account_id: accountId, text };
    const what = JSON.stringify(body);
    const answer = await sendOnce(session, session.keys, what, body, task.error !== null);
    open('conversations', answer.account_id, answer.contact_id);
  };
  return (
    <Form
      task={task}
      run={() => task.run(send, onClose)}
      action={texts.conversations.send}
      lost={texts.conversations.lost}
      onCancel={onClose}
    >
      <Choice
        label={texts.conversations.from}
        value={accountId}
        options={accounts.map((one) => [one.id, `${one.identifier} · ${channelName(one.channel)}`])}
        onChange={setAccountId}
      />
      <Field
        label={texts.conversations.to}
        type="tel"
        value={phone}
        onInput={setPhone}
        placeholder="+12025550123"
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
        of={[...ofKey(session), ...accounts.filter(({ id }) => id === accountId).flatMap(ofFirst)]}
      />
    </Form>
  );
}

/** Why a first message from the account would be refused. */
function ofFirst(account: Account): readonly string[] {
  const { limits, new_contacts_blocked_until: until } = account;
  return [
    ...ofCaps(account),
    ...(limits.new_contacts < limits.new_contacts_cap
      ? []
      : [texts.conversations.hindrances.newContacts]),
    ...(until === null ? [] : [`${texts.accounts.newContactsBlocked} ${fullTime(until)}`]),
  ];
}
