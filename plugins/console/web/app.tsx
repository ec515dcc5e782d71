import { useEffect, useMemo, useState } from 'preact/hooks';
import { isRefusal } from '../../../client/refusal.ts';
import { Accounts } from './accounts.tsx';
import { Connect } from './connect.tsx';
import { Conversations } from './conversations.tsx';
import { Keys } from './keys.tsx';
import { Live, useLiveness } from './live.ts';
import { pauseAfter } from './loaded.ts';
import { Messages } from './messages.tsx';
import { OwnerLink } from './owner-link.tsx';
import { Phones } from './phones.tsx';
import { address, useRoute } from './router.ts';
import { drafts, keptKey, mayManage, type Session, signIn } from './session.ts';
import { SignIn } from './sign-in.tsx';
import { System } from './system.tsx';
import { texts } from './texts.ts';
import { Problem } from './ui.tsx';
import { Usage } from './usage.tsx';
import { Webhooks } from './webhooks.tsx';

/** Skips to the page by its focus alone: the address behind `#` is that of the page. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

/** What each page gets. */
export interface PageProps {
  readonly session: Session;
  readonly live: Live;
  /** The parts of the address behind the page's own. */
  readonly rest: readonly string[];
}

const pages = {
  accounts: Accounts,
  connect: Connect,
  conversations: Conversations,
  messages: Messages,
  webhooks: Webhooks,
  usage: Usage,
  phones: Phones,
  keys: Keys,
  system: System,
} as const;

const menu = [
  'accounts',
  'conversations',
  'messages',
  'webhooks',
  'usage',
  'phones',
  'keys',
  'system',
] as const;

/** The console: the one page of an owner's link, or signing in and then the pages. */
export function App() {
  const [name, token = ''] = useRoute();
  return name === 'link' ? <OwnerLink key={token} token={token} /> : <Console />;
}

function Console() {
  const [session, setSession] = useState<Session | null>(null);
  /** Whether the key that the tab has kept is tried. */
  const [isAsking, setAsking] = useState(keptKey.read() !== null);
  const [error, setError] = useState<unknown>(null);
  const enter = async (key: string) => {
    try {
      const entered = await signIn(key);
      keptKey.keep(key);
      setSession(entered);
      setAsking(false);
    } catch (failure) {
      if (isRefusal(failure) && failure.status === 401) keptKey.forget();
      setError(failure);
      if (pauseAfter(failure) === null) setAsking(false);
    }
  };
  const leave = (reason: unknown = null) => {
    keptKey.forget();
    // A key that has ended leaves them to the next one.
    if (reason === null) drafts.clear();
    setSession(null);
    setError(reason);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: at once, and again after each failure
  useEffect(() => {
    if (!isAsking) return;
    const pause = error === null ? 0 : (pauseAfter(error) ?? 0);
    const timer = setTimeout(() => void enter(keptKey.read() ?? ''), pause);
    return () => clearTimeout(timer);
  }, [isAsking, error]);
  if (session !== null) return <House key={session.me.key.id} session={session} leave={leave} />;
  const enterAnew = (key: string) => {
    setError(null);
    return enter(key);
  };
  return <SignIn error={error} isAsking={isAsking} enter={enterAnew} />;
}

function House({ session, leave }: { session: Session; leave: (reason?: unknown) => void }) {
  const live = useMemo(() => new Live(session, keptKey.read() ?? ''), [session]);
  useEffect(() => () => live.close(), [live]);
  const liveness = useLiveness(live);
  useEffect(() => {
    if (liveness === 'refused') leave(new Error(texts.signIn.over));
  }, [liveness, leave]);
  const [name = 'accounts', ...rest] = useRoute();
  // biome-ignore lint/correctness/useExhaustiveDependencies: on a phone the row of pages is wider than the screen
  useEffect(() => {
    const here = document.querySelector('nav [aria-current]');
    here?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [name]);
  const Shown = Object.hasOwn(pages, name) ? pages[name as keyof typeof pages] : Accounts;
  const items = menu.filter((item) =>
    item === 'keys' || item === 'webhooks'
      ? mayManage(session, item)
      : item !== 'phones' || (session.isTest && session.me.key.account_ids === null),
  );
  return (
    <div class="house">
      {/* biome-ignore lint/a11y/useValidAnchor: a link to a part of this page, whose address stays */}
      <a class="skip" href="#main" onClick={skip}>
        {texts.skip}
      </a>
      <nav aria-label={texts.menu.label}>
        <strong class="product">{texts.product}</strong>
        <ul>
          {items.map((item) => (
            <li key={item}>
              <a
                href={address(item)}
                aria-current={
                  item === name || (item === 'accounts' && name === 'connect') ? 'page' : undefined
                }
              >
                {texts.menu[item]}
              </a>
            </li>
          ))}
        </ul>
        <div class="who">
          <bdi>{session.me.tenant.name}</bdi>
          {session.isTest && <span class="badge wait">{texts.testMode}</span>}
          <button type="button" class="button link" onClick={() => leave()}>
            {texts.signOut}
          </button>
        </div>
      </nav>
      <main id="main" tabIndex={-1}>
        <div role="status">
          {liveness === 'away' && <Problem error={texts.away} />}
          {liveness === 'crowded' && <Problem error={texts.crowded} />}
        </div>
        <Shown session={session} live={live} rest={rest} />
      </main>
    </div>
  );
}
