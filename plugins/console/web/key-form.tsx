import { useState } from 'preact/hooks';
import { ShownOnce } from './copy.tsx';
import { Choice, Dialog, Field, Form, Option, Options, useTask } from './forms.tsx';
import type { Account, Session } from './session.ts';
import { texts } from './texts.ts';

type Scope = keyof typeof texts.keys.scopes;

const allScopes = Object.keys(texts.keys.scopes) as readonly Scope[];
/** What a key for some accounts may do. */
const accountScopes: readonly Scope[] = ['read', 'send', 'connect'];
const dayMs = 86_400_000;

/** Makes a key, and shows it this once. */
export function KeyForm(props: {
  session: Session;
  accounts: readonly Account[];
  onDone: () => void;
  onClose: () => void;
}) {
  const { session, accounts, onDone, onClose } = props;
  const own = session.me.key.scopes ?? allScopes;
  const [made, setMade] = useState<string | null>(null);
  const [name, setName] = useState('');
  const [chosen, choose] = useState<readonly Scope[]>(['read', 'send']);
  const [accountIds, setAccountIds] = useState<readonly string[]>([]);
  const [isConfirming, setConfirming] = useState(session.me.key.confirm_sends);
  const [days, setDays] = useState<keyof typeof texts.keys.ends>('0');
  const task = useTask();
  const possible = own.filter((scope) => accountIds.length === 0 || accountScopes.includes(scope));
  const scopes = possible.filter((scope) => chosen.includes(scope));
  const submit = () =>
    task.run(async () => {
      const ends = Number(days);
      const { key } = await session.client.call('create_key', {
        body: {
          name: name.trim(),
          scopes,
          confirm_sends: isConfirming,
          ...(accountIds.length === 0 ? {} : { account_ids: [...accountIds] }),
          ...(ends === 0 ? {} : { expires_at: new Date(Date.now() + ends * dayMs).toISOString() }),
        },
      });
      setMade(key);
      onDone();
    });
  if (made !== null) {
    return (
      <ShownOnce
        title={texts.keys.made}
        text={texts.keys.once}
        value={made}
        label={texts.keys.copy}
        onClose={onClose}
      />
    );
  }
  return (
    <Dialog title={texts.keys.add} onClose={onClose}>
      <Form task={task} run={submit} action={texts.keys.make} onCancel={onClose}>
        <Field
          label={texts.keys.name}
          value={name}
          onInput={setName}
          hint={texts.keys.nameHint}
          isRequired
        />
        <Options
          label={texts.system.scopes}
          chosen={chosen}
          options={possible.map((scope) => [scope, texts.keys.scopes[scope]])}
          onChange={choose}
        />
        {scopes.includes('send') && !session.me.key.confirm_sends && (
          <Option text={texts.keys.confirms} isChecked={isConfirming} onChange={setConfirming} />
        )}
        {accounts.length > 0 && (
          <Options
            label={texts.keys.accounts}
            chosen={accountIds}
            options={accounts.map(({ id, identifier }) => [id, identifier])}
            onChange={setAccountIds}
          />
        )}
        <Choice
          label={texts.system.expires}
          value={days}
          options={Object.entries(texts.keys.ends) as [keyof typeof texts.keys.ends, string][]}
          onChange={setDays}
        />
      </Form>
    </Dialog>
  );
}
