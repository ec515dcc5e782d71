import { useState } from 'preact/hooks';
import { ShownOnce } from './copy.tsx';
import { Choice, Dialog, Field, Form, Option, Options, useTask } from './forms.tsx';
import type { Account, Session } from './session.ts';
import { texts } from './texts.ts';
import { fullTime } from './times.ts';

type Scope = keyof typeof texts.keys.scopes;
type Ends = '0' | keyof typeof texts.keys.ends;

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
  const end = session.me.key.expires_at;
  const [made, setMade] = useState<string | null>(null);
  const [name, setName] = useState('');
  const [chosen, choose] = useState<readonly Scope[]>(['read', 'send']);
  const [accountIds, setAccountIds] = useState<readonly string[]>([]);
  const [isConfirming, setConfirming] = useState(session.me.key.confirm_sends);
  const [days, setDays] = useState<Ends>('0');
  const task = useTask();
  const possible = own.filter((scope) => accountIds.length === 0 || accountScopes.includes(scope));
  const scopes = possible.filter((scope) => chosen.includes(scope));
  // A key ends with the one that makes it, or earlier.
  const later = Object.entries(texts.keys.ends) as [Ends, string][];
  const ends: readonly (readonly [Ends, string])[] = [
    ['0', end === null ? texts.system.never : fullTime(end)],
    ...later.filter(([days]) => end === null || endIn(days) < end),
  ];
  const submit = () =>
    task.run(async () => {
      const body = {
        name: name.trim(),
        scopes,
        confirm_sends: isConfirming,
        ...(accountIds.length === 0 ? {} : { account_ids: [...accountIds] }),
        ...(days === '0' ? {} : { expires_at: endIn(days) }),
      };
      // Where the answer is lost there may be a key that nobody holds.
      const { key } = await session.client.call('create_key', { body }).finally(onDone);
      setMade(key);
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
        <Choice label={texts.system.expires} value={days} options={ends} onChange={setDays} />
      </Form>
    </Dialog>
  );
}

/** As the gateway writes times. */
function endIn(days: string): string {
  return new Date(Date.now() + Number(days) * dayMs).toISOString();
}
