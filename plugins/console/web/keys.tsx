import { useState } from 'preact/hooks';
import type { components } from '../../../client/generated/schema.ts';
import type { PageProps } from './app.tsx';
import { Confirm } from './forms.tsx';
import { KeyForm } from './key-form.tsx';
import { listedAccounts, useList } from './loaded.ts';
import { readPages } from './pages.ts';
import type { Session } from './session.ts';
import { texts } from './texts.ts';
import { Badge, Button, Empty, Ever, Fact, Page, Shown } from './ui.tsx';

type Key = components['schemas']['Key'];

/** How many keys a person sees more of at once. */
const pageSize = 50;

/** The keys: what each may do, and when it was used last; a new one is shown once. */
export function Keys({ session }: PageProps) {
  const [isAdding, setAdding] = useState(false);
  const loaded = useList(
    async (rounds) => {
      const [keys, accounts] = await Promise.all([
        readPages(
          (query) => session.client.call('list_keys', { query }),
          'keys',
          pageSize * rounds,
        ),
        // Without accounts to choose of, a form makes keys for all of them.
        listedAccounts(session),
      ]);
      return { ...keys, accounts };
    },
    [session],
  );
  const action = (
    <Button tone="main" onClick={() => setAdding(true)}>
      {texts.keys.add}
    </Button>
  );
  return (
    <Page title={texts.menu.keys} actions={action}>
      <p class="quiet">{texts.keys.about}</p>
      <Shown loaded={loaded}>
        {({ items, hasMore, accounts }) => (
          <div class="list">
            {items.length === 0 && <Empty>{texts.keys.empty}</Empty>}
            {items.map((key) => (
              <KeyCard
                key={key.id}
                session={session}
                shown={key}
                nameOf={(id) => accounts.find((one) => one.id === id)?.identifier ?? id}
                onDone={loaded.reload}
              />
            ))}
            {hasMore && <Button onClick={loaded.showMore}>{texts.more}</Button>}
            {isAdding && (
              <KeyForm
                session={session}
                accounts={accounts}
                onDone={loaded.reload}
                onClose={() => setAdding(false)}
              />
            )}
          </div>
        )}
      </Shown>
    </Page>
  );
}

function KeyCard(props: {
  session: Session;
  shown: Key;
  nameOf: (accountId: string) => string;
  onDone: () => void;
}) {
  const { session, shown: key, nameOf, onDone } = props;
  const [isAsking, ask] = useState(false);
  const isOwn = key.id === session.me.key.id;
  const isOver = key.expires_at !== null && Date.parse(key.expires_at) <= Date.now();
  return (
    <section class="card">
      <h2>
        <bdi>{key.name ?? texts.keys.nameless}</bdi>{' '}
        {isOwn && <Badge tone="good">{texts.keys.own}</Badge>}{' '}
        {isOver && <Badge tone="bad">{texts.keys.over}</Badge>}
      </h2>
      <dl class="facts">
        <Fact name={texts.system.key}>
          <code>{key.hint}</code> <code>{key.id}</code>
        </Fact>
        <Fact name={texts.system.scopes}>
          {key.scopes?.map((scope) => texts.keys.scopes[scope]).join(', ') ?? texts.system.all}
          {key.confirm_sends && ` · ${texts.keys.confirms}`}
        </Fact>
        <Fact name={texts.system.accounts}>
          {key.account_ids?.map(nameOf).join(', ') ?? texts.system.all}
        </Fact>
        <Fact name={texts.system.expires}>
          <Ever at={key.expires_at} />
        </Fact>
        <Fact name={texts.keys.used}>
          <Ever at={key.last_used_at} />
        </Fact>
      </dl>
      <div class="actions">
        <Button onClick={() => ask(true)}>{texts.keys.delete}</Button>
      </div>
      {isAsking && (
        <Confirm
          title={texts.keys.deleteTitle}
          text={isOwn ? texts.keys.deleteOwn : texts.keys.deleteText}
          action={texts.keys.delete}
          run={() => session.client.call('delete_key', { path: { id: key.id } }).finally(onDone)}
          onClose={() => ask(false)}
        />
      )}
    </section>
  );
}
