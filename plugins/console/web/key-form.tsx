import { useState } from 'preact/hooks';
import { Copy } from './copy.tsx';
import type { Account, Session } from './session.ts';
import { texts } from './texts.ts';
import { Button, Choice, Dialog, Field, Option, Problem, useTask } from './ui.tsx';

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
      <Dialog title={texts.keys.made} onClose={onClose}>
        <p>{texts.keys.once}</p>
        <Copy value={made} label={texts.keys.copy} />
        <div class="actions">
          <Button tone="main" onClick={onClose}>
            {texts.close}
          </Button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title={texts.keys.add} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <Field
          label={texts.keys.name}
          value={name}
          onInput={setName}
          hint={texts.keys.nameHint}
          isRequired
        />
        <fieldset class="field">
          <legend>{texts.system.scopes}</legend>
          {possible.map((scope) => (
            <Option
              key={scope}
              text={texts.keys.scopes[scope]}
              isChecked={scopes.includes(scope)}
              onChange={(isChosen) => choose(changed(chosen, scope, isChosen))}
            />
          ))}
        </fieldset>
        {scopes.includes('send') && !session.me.key.confirm_sends && (
          <Option text={texts.keys.confirms} isChecked={isConfirming} onChange={setConfirming} />
        )}
        {accounts.length > 0 && (
          <fieldset class="field">
            <legend>{texts.keys.accounts}</legend>
            {accounts.map(({ id, identifier }) => (
              <Option
                key={id}
                text={identifier}
                isChecked={accountIds.includes(id)}
                onChange={(isChosen) => setAccountIds(changed(accountIds, id, isChosen))}
              />
            ))}
          </fieldset>
        )}
        <Choice
          label={texts.system.expires}
          value={days}
          options={Object.entries(texts.keys.ends) as [keyof typeof texts.keys.ends, string][]}
          onChange={setDays}
        />
        <Problem error={task.error} />
        <div class="actions">
          <Button onClick={onClose}>{texts.cancel}</Button>
          <Button type="submit" tone="main" isBusy={task.isBusy}>
            {texts.keys.make}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function changed<Item>(items: readonly Item[], item: Item, isChosen: boolean): readonly Item[] {
  const others = items.filter((one) => one !== item);
  return isChosen ? [...others, item] : others;
}
