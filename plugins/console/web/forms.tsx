import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { texts } from './texts.ts';
import { Button, Problem } from './ui.tsx';

/** A window above the page; it stays while something that a button of it began goes on. */
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
      onCancel={(event) => isBusy(event.currentTarget) && event.preventDefault()}
      onClose={({ currentTarget }) => {
        if (!currentTarget.isConnected) return;
        // Browsers close it all the same at the next Escape.
        if (isBusy(currentTarget)) currentTarget.showModal();
        else props.onClose();
      }}
      aria-label={props.title}
    >
      <h2>{props.title}</h2>
      {props.children}
    </dialog>
  );
}

function isBusy(dialog: HTMLDialogElement): boolean {
  return dialog.querySelector('[aria-busy=true]') !== null;
}

/** Asks before something that cannot be taken back. */
export function Confirm(props: {
  title: string;
  text: string;
  action: string;
  run: () => Promise<unknown>;
  /** Default: `onClose`. */
  onDone?: () => void;
  onClose: () => void;
}) {
  const task = useTask();
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <p>{props.text}</p>
      <Ways
        task={task}
        run={() => task.run(props.run, props.onDone ?? props.onClose)}
        action={props.action}
        tone="danger"
        onCancel={props.onClose}
      />
    </Dialog>
  );
}

/** Calls back when a form is submitted, and loads no page. */
export function submitting(run: () => unknown) {
  return (event: Event) => {
    event.preventDefault();
    run();
  };
}

interface WaysProps {
  readonly task: Pick<Task, 'isBusy' | 'error'>;
  /** Absent: the form around it is submitted. */
  readonly run?: () => unknown;
  readonly action: string;
  readonly tone?: 'main' | 'danger';
  /** Said where no answer came. */
  readonly lost?: string | undefined;
  readonly onCancel: () => void;
}

/** What went wrong with a task, and the buttons to do it or not. */
function Ways({ task, run, action, tone = 'main', lost, onCancel }: WaysProps) {
  return (
    <>
      <Problem error={task.error} lost={lost} />
      <div class="actions">
        <Button onClick={onCancel} isDisabled={task.isBusy}>
          {texts.cancel}
        </Button>
        <Button
          type={run === undefined ? 'submit' : 'button'}
          tone={tone}
          isBusy={task.isBusy}
          onClick={run}
        >
          {action}
        </Button>
      </div>
    </>
  );
}

/** Fields of one task, and its ways out. */
export function Form({
  run,
  children,
  ...props
}: WaysProps & { run: () => unknown; class?: string; children: ComponentChildren }) {
  return (
    <form class={props.class} onSubmit={submitting(run)}>
      {children}
      <Ways {...props} />
    </form>
  );
}

type Task = ReturnType<typeof useTask>;

/**
 * Something that a person started: one at a time, its failure kept until the next try. `onDone` takes its answer where
 * the person has not gone on to another page.
 */
export function useTask() {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const isThere = useRef(true);
  useLayoutEffect(
    () => () => {
      isThere.current = false;
    },
    [],
  );
  const run = async <Answer,>(work: () => Promise<Answer>, onDone?: (answer: Answer) => void) => {
    setBusy(true);
    setError(null);
    try {
      const answer = await work();
      if (isThere.current) onDone?.(answer);
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
  isDisabled?: boolean;
}) {
  return (
    <label class="field">
      <span>{props.label}</span>
      <select
        value={props.value}
        disabled={props.isDisabled}
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

/** One thing to be ticked. */
export function Option(props: {
  text: string;
  hint?: string | undefined;
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

/** Some of several, to be ticked: each its value, its text and a hint. */
export function Options<Value extends string>(props: {
  label: string;
  chosen: readonly Value[];
  options: readonly (readonly [Value, string, string?])[];
  onChange: (chosen: readonly Value[]) => void;
}) {
  const { chosen, options, onChange } = props;
  return (
    <fieldset class="field">
      <legend>{props.label}</legend>
      {options.map(([value, text, hint]) => (
        <Option
          key={value}
          text={text}
          hint={hint}
          isChecked={chosen.includes(value)}
          onChange={(isChecked) =>
            onChange(isChecked ? [...chosen, value] : chosen.filter((one) => one !== value))
          }
        />
      ))}
    </fieldset>
  );
}
