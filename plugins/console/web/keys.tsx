import { useRef, useState } from 'preact/hooks';
import type { components } from '../../../client/generated/schema.ts';
import type { PageProps } from './app.tsx';
import { KeyForm } from './key-form.tsx';
import { useLoaded } from './loaded.ts';
import type { Session } from './session.ts';
import { texts } from './texts.ts';
import { Badge, Button, Confirm, Empty, Page, Shown, Time } from './ui.tsx';

type Key = components['schemas']['Key'];

/** How many keys a person sees more of at once. */
const pageSize = 50;

/** The keys: what each may do, and when it was used last; a new one is shown once. */
export function Keys({ session }: PageProps) {
  const [isAdding, setAdding] = useState(false);
  /** How often a person asked for more. No input of the list: what is shown stays while more is read. */
  const rounds = useRef(1);
  const loaded = useLoaded(async () => {
    const [keys, { accounts }] = await Promise.all([
      readKeys(session, pageSize * rounds.current),
      session.client.call('list_accounts').catch(() => ({ accounts: [] })),
    ]);
    return { ...keys, accounts };
  }, [session]);
  const showMore = () => {
    rounds.current += 1;
    loaded.reload();
  };
  const action = (
    <Button tone="main" onClick={() => setAdding(true)}>
      {texts.keys.add}
    </Button>
  );
  return (
    <Page title={texts.menu.keys} actions={action}>
      <p class="quiet">{texts.keys.about}</p>
      <Shown loaded={loaded}>
        {({ keys, hasMore, accounts }) => (
          <div class="list">
            {keys.length === 0 && <Empty>{texts.keys.empty}</Empty>}
            {keys.map((key) => (
              <KeyCard
                key={key.id}
                session={session}
                shown={key}
                nameOf={(id) => accounts.find((one) => one.id === id)?.identifier ?? id}
                onDone={loaded.reload}
              />
            ))}
            {hasMore && <Button onClick={showMore}>{texts.more}</Button>}
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

/** Reads page after page until so many keys are there. */
async function readKeys({ client }: Session, size: number) {
  const keys: Key[] = [];
  let before: string | null = null;
  do {
    const query = { limit: pageSize, ...(before !== null && { before }) };
    const page: { keys: Key[]; next_cursor: string | null } = await client.call('list_keys', {
      query,
    });
    keys.push(...page.keys);
    before = page.next_cursor;
  } while (before !== null && keys.length < size);
  return { keys, hasMore: before !== null };
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
        <dt>{texts.system.key}</dt>
        <dd>
          <code>{key.hint}</code> <code>{key.id}</code>
        </dd>
        <dt>{texts.system.scopes}</dt>
        <dd>
          {key.scopes?.map((scope) => texts.keys.scopes[scope]).join(', ') ?? texts.system.all}
          {key.confirm_sends && ` · ${texts.keys.confirms}`}
        </dd>
        <dt>{texts.system.accounts}</dt>
        <dd>{key.account_ids?.map(nameOf).join(', ') ?? texts.system.all}</dd>
        <dt>{texts.system.expires}</dt>
        <dd>{key.expires_at === null ? texts.system.never : <Time at={key.expires_at} />}</dd>
        <dt>{texts.keys.used}</dt>
        <dd>{key.last_used_at === null ? texts.system.never : <Time at={key.last_used_at} />}</dd>
      </dl>
      <div class="actions">
        <Button onClick={() => ask(true)}>{texts.keys.delete}</Button>
      </div>
      {isAsking && (
        <Confirm
          title={texts.keys.deleteTitle}
          text={isOwn ? texts.keys.deleteOwn : texts.keys.deleteText}
          action={texts.keys.delete}
          run={async () => {
            await session.client.call('delete_key', { path: { id: key.id } });
            onDone();
          }}
          onClose={() => ask(false)}
        />
      )}
    </section>
  );
}
