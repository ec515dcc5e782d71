import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { isRefusal, Unreachable } from '../../../client/refusal.ts';
import type { Account } from './session.ts';
import { texts } from './texts.ts';
import { count, fullTime, shortTime } from './times.ts';

type Limits = Pick<Account['limits'], 'sends' | 'sends_cap' | 'new_contacts' | 'new_contacts_cap'>;

export type Tone = 'good' | 'wait' | 'bad' | 'plain';

/**
 * Names the window while it is shown, and takes the focus when it comes, so that a screen reader says where one is. The
 * name of before comes back with what is behind.
 */
export function Heading(props: {
  title: string;
  isBehind?: boolean;
  /** For one that comes late: what had the focus when it was asked for. The focus is taken from nothing else. */
  opener?: Element | null;
}) {
  const { title, isBehind = false, opener } = props;
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    const before = document.title;
    document.title = `${title} · ${texts.product}`;
    return () => {
      document.title = before;
    };
  }, [title]);
  useEffect(() => {
    const { activeElement, body } = document;
    const isFree = opener === undefined || [opener, body].includes(activeElement);
    if (!isBehind && isFree) heading.current?.focus();
  }, [isBehind, opener]);
  return (
    <h1 tabIndex={-1} ref={heading}>
      <Name>{title}</Name>
    </h1>
  );
}

/** One page. */
export function Page(props: {
  title: string;
  /** Whether something else was opened from it, and has the focus. */
  isBehind?: boolean;
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <section class="page">
      <header class="page-head">
        <Heading title={props.title} isBehind={props.isBehind === true} />
        <div class="actions">{props.actions}</div>
      </header>
      {props.children}
    </section>
  );
}

/** The second click of a double click does nothing: each thing is done once. */
export function Button(props: {
  children: ComponentChildren;
  onClick?: (() => unknown) | undefined;
  tone?: 'main' | 'danger' | 'link';
  isBusy?: boolean;
  isDisabled?: boolean;
  type?: 'button' | 'submit';
  label?: string;
}) {
  const { tone = '', isBusy = false, isDisabled = false, type = 'button' } = props;
  return (
    <button
      type={type}
      class={`button ${tone}`}
      disabled={isBusy || isDisabled}
      aria-busy={isBusy}
      aria-label={props.label}
      onClick={(event) => (event.detail > 1 ? event.preventDefault() : props.onClick?.())}
    >
      {props.children}
    </button>
  );
}

/** A state in a word: never by colour alone, each tone has a shape of its own. */
export function Badge({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

/** Text that people wrote: never markup, and its direction stays inside. */
export function Name({ children }: { children: string }) {
  return <bdi class="name">{children}</bdi>;
}

export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={fullTime(at)}>
      {shortTime(at)}
    </time>
  );
}

/** A time that may never come, or has never come. */
export function Ever({ at }: { at: string | null }) {
  return at === null ? texts.system.never : <Time at={at} />;
}

/** One of some facts: its name, and what it is. */
export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

/** Grey lines where a list will be. */
export function Bones() {
  return (
    <div class="bones" role="status">
      <span class="hidden">{texts.loading}</span>
      <i />
      <i />
      <i />
    </div>
  );
}

/** Said where a list has nothing to show. */
export function Empty({ children, hint }: { children: string; hint?: string }) {
  return (
    <div class="empty">
      <p>{children}</p>
      {hint !== undefined && <p class="quiet">{hint}</p>}
    </div>
  );
}

/**
 * Why something did not work: the gateway's sentence, what is wrong with which field, and the code small. `lost` is said
 * where no answer came.
 */
export function Problem(props: {
  error: unknown;
  lost?: string | undefined;
  onRetry?: () => void;
}) {
  const { error, lost = texts.lost, onRetry } = props;
  if (error === null || error === undefined) return null;
  const isAway = error instanceof Unreachable;
  return (
    <div class="problem" role="alert">
      <p>{isAway ? lost : error instanceof Error ? error.message : String(error)}</p>
      {isRefusal(error) && error.details.length > 0 && (
        <ul>
          {error.details.map(({ path, message }) => (
            <li key={path}>
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      )}
      {isRefusal(error) && <code class="code">{error.code}</code>}
      {onRetry !== undefined && (
        <Button tone="link" onClick={onRetry}>
          {texts.tryAgain}
        </Button>
      )}
    </div>
  );
}

/** What is read: bones, then the value; a failure is shown above what was read last. */
export function Shown<Value>(props: {
  loaded: { readonly value: Value | null; readonly error: unknown; reload(): void };
  children: (value: Value) => ComponentChildren;
}) {
  const { value, error, reload } = props.loaded;
  return (
    <>
      <Problem error={error} lost={texts.away} onRetry={reload} />
      {value === null ? error === null && <Bones /> : props.children(value)}
    </>
  );
}

/** What was sent today, against its caps. */
export function LimitBars({ limits }: { limits: Limits }) {
  const { sends, sends_cap, new_contacts, new_contacts_cap } = limits;
  const words = texts.accounts;
  return (
    <>
      <Bar value={sends} of={sends_cap} text={words.sends(count(sends), count(sends_cap))} />
      <Bar
        value={new_contacts}
        of={new_contacts_cap}
        text={words.newContacts(count(new_contacts), count(new_contacts_cap))}
      />
    </>
  );
}

/** How much of a cap is used. */
export function Bar({ value, of, text }: { value: number; of: number; text: string }) {
  return (
    <div class="bar">
      <meter min={0} max={Math.max(of, 1)} value={value} aria-label={text} />
      <span>{text}</span>
    </div>
  );
}
