import { useEffect, useState } from 'preact/hooks';
import { AccountCard } from './account-card.tsx';
import type { PageProps } from './app.tsx';
import { Confirm } from './forms.tsx';
import { useEvents } from './live.ts';
import { useAccounts } from './loaded.ts';
import { open } from './router.ts';
import type { Account } from './session.ts';
import { texts } from './texts.ts';
import { Button, Empty, Page, Shown } from './ui.tsx';

/** Networks that are away raise no event: the accounts are read every ten seconds. */
const everyMs = 10_000;

/** Trouble first: what the eye should meet. */
const order = { restricted: 0, disconnected: 1, connecting: 2, connected: 3 } as const;

/** Every connected number: how it is, why, and what to do. */
export function Accounts({ session, live }: PageProps) {
  /** The id alone: what is asked follows the account. */
  const [askedId, ask] = useState<string | null>(null);
  const loaded = useAccounts(session, everyMs);
  const asked = loaded.value?.find(({ id }) => id === askedId);
  useEffect(() => {
    // An account that comes back is not asked about.
    if (asked === undefined) ask(null);
  }, [asked]);
  useEvents(live, (event) => {
    const changes = event === null || /^account\.|^message\.(sent|failed)$/.test(event.type);
    if (changes) loaded.noteChange();
  });
  const remove = async ({ channel, identifier }: Account) => {
    await session.client.call('disconnect', { path: { channel, identifier } });
    loaded.reload();
  };
  const connect = (
    <Button tone="main" onClick={() => open('connect')}>
      {texts.accounts.connect}
    </Button>
  );
  return (
    <Page title={texts.menu.accounts} actions={connect}>
      <Shown loaded={loaded}>
        {(accounts) =>
          accounts.length === 0 ? (
            <Empty hint={texts.accounts.emptyHint}>{texts.accounts.empty}</Empty>
          ) : (
            <ul class="cards">
              {accounts
                .toSorted((one, other) => order[one.status] - order[other.status])
                .map((account) => (
                  <AccountCard key={account.id} account={account} onRemove={ask} />
                ))}
            </ul>
          )
        }
      </Shown>
      {asked !== undefined && (
        <Confirm {...questionOf(asked)} run={() => remove(asked)} onClose={() => ask(null)} />
      )}
    </Page>
  );
}

/** What is asked before a number is taken away, in the words of the button that does it. */
function questionOf({ status, identifier }: Account) {
  const words = texts.accounts;
  return status === 'disconnected'
    ? { title: words.removeTitle(identifier), text: words.removeText, action: words.remove }
    : {
        title: words.disconnectTitle(identifier),
        text: words.disconnectText,
        action: words.disconnect,
      };
}
