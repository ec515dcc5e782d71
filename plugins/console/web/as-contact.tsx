import { useState } from 'preact/hooks';
import { Field, submitting, useTask } from './forms.tsx';
import type { Account, Contact, Session } from './session.ts';
import { texts } from './texts.ts';
import { Button, Problem } from './ui.tsx';

/** Test mode: writes to the account as the contact would. */
export function AsContact(props: { session: Session; account: Account; contact: Contact }) {
  const { session, account, contact } = props;
  const [text, setText] = useState('');
  const task = useTask();
  const { phone } = contact;
  if (phone === null) return null;
  const write = () =>
    session.client.call('write_to_simulated_phone', {
      path: { phone: account.identifier },
      query: { channel: account.channel },
      body: { from: { phone, name: contact.name === '' ? null : contact.name }, text },
    });
  return (
    <details class="as-contact" open>
      <summary>{texts.conversations.asContact}</summary>
      <form
        onSubmit={submitting(() =>
          task.run(write, () => setText((now) => (now === text ? '' : now))),
        )}
      >
        <Field label={texts.conversations.theirText} value={text} onInput={setText} isRequired />
        <Button type="submit" isBusy={task.isBusy}>
          {texts.conversations.writeAsContact}
        </Button>
      </form>
      <Problem error={task.error} />
    </details>
  );
}
