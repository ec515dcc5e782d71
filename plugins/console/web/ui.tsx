import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { isRefusal, Unreachable } from '../../../client/refusal.ts';
import { texts } from './texts.ts';
import { fullTime, shortTime } from './times.ts';

export type Tone = 'good' | 'wait' | 'bad' | 'plain';

/** One page: its heading takes the focus when it opens, so that a screen reader says where one is. */
export function Page(props: {
  title: string;
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${props.title} · ${texts.product}`;
    heading.current?.focus();
  }, [props.title]);
  return (
    <section class="page">
      <header class="page-head">
        <h1 tabIndex={-1} ref={heading}>
          {props.title}
        </h1>
        <div class="actions">{props.actions}</div>
      </header>
      {props.children}
    </section>
  );
}

export function Button(props: {
  children: ComponentChildren;
  onClick?: () => void;
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
      onClick={props.onClick}
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

export function Empty({ children }: { children: ComponentChildren }) {
  return <div class="empty">{children}</div>;
}

/**
 * Why something did not work: the gateway's sentence, what is wrong with which field, and the code small. `lost` is said
 * where no answer came.
 */
export function Problem(props: { error: unknown; lost?: string; onRetry?: () => void }) {
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

/** How much of a cap is used. */
export function Bar({ value, of, text }: { value: number; of: number; text: string }) {
  return (
    <div class="bar">
      <meter min={0} max={Math.max(of, 1)} value={value} aria-label={text} />
      <span>{text}</span>
    </div>
  );
}

export function Dialog(props: { title: string; onClose: () => void; children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    // Only a dialog that is closed before it is removed gives the focus back to what opened it.
    return () => shown?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      onClose={(event) => event.currentTarget.isConnected && props.onClose()}
      aria-label={props.title}
    >
      <h2>{props.title}</h2>
      {props.children}
    </dialog>
  );
}

/** Asks before something that cannot be taken back. */
export function Confirm(props: {
  title: string;
  text: string;
  action: string;
  run: () => Promise<unknown>;
  onClose: () => void;
}) {
  const task = useTask();
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <p>{props.text}</p>
      <Problem error={task.error} />
      <div class="actions">
        <Button onClick={props.onClose}>{texts.cancel}</Button>
        <Button
          tone="danger"
          isBusy={task.isBusy}
          onClick={() => task.run(async () => void (await props.run()), props.onClose)}
        >
          {props.action}
        </Button>
      </div>
    </Dialog>
  );
}

/** Something that a person started: one at a time, its failure kept until the next try. */
export function useTask() {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const run = async (work: () => Promise<void>, onDone?: () => void) => {
    setBusy(true);
    setError(null);
    try {
      await work();
      onDone?.();
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, error, run, clear: () => setError(null) };
}

/** One labelled field. */
export function Field(props: {
  label: string;
  value: string;
  onInput: (value: string) => void;
  type?: 'text' | 'password' | 'tel' | 'url' | 'date' | 'search';
  hint?: string;
  placeholder?: string;
  isRequired?: boolean;
}) {
  return (
    <label class="field">
      <span>{props.label}</span>
      <input
        // Preact types each kind of input apart.
        type={(props.type ?? 'text') as 'text'}
        value={props.value}
        placeholder={props.placeholder}
        required={props.isRequired}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => props.onInput(event.currentTarget.value)}
      />
      {props.hint !== undefined && <small>{props.hint}</small>}
    </label>
  );
}

/** One choice of several. */
export function Choice<Value extends string>(props: {
  label: string;
  value: Value;
  options: readonly (readonly [Value, string])[];
  onChange: (value: Value) => void;
}) {
  return (
    <label class="field">
      <span>{props.label}</span>
      <select
        value={props.value}
        onChange={(event) => props.onChange(event.currentTarget.value as Value)}
      >
        {props.options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** One choice of several, to be ticked. */
export function Option(props: {
  text: string;
  hint?: string;
  isChecked: boolean;
  onChange: (isChecked: boolean) => void;
}) {
  return (
    <label class="option">
      <input
        type="checkbox"
        checked={props.isChecked}
        onChange={(event) => props.onChange(event.currentTarget.checked)}
      />
      <span>
        {props.text} {props.hint !== undefined && <small>{props.hint}</small>}
      </span>
    </label>
  );
}
