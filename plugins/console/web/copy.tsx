import { useRef, useState } from 'preact/hooks';
import { Dialog } from './forms.tsx';
import { texts } from './texts.ts';
import { Button } from './ui.tsx';

/** A value to be copied: selected where the browser gives no clipboard, as over plain HTTP. */
export function Copy({ value, label }: { value: string; label: string }) {
  const [done, setDone] = useState<{ of: string; isCopied: boolean } | null>(null);
  const code = useRef<HTMLElement>(null);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(value);
      setDone({ of: value, isCopied: true });
    } catch {
      if (code.current !== null) getSelection()?.selectAllChildren(code.current);
      setDone({ of: value, isCopied: false });
    }
  };
  const isCopied = done?.of === value ? done.isCopied : null;
  return (
    <div class="copy">
      <code ref={code}>{value}</code>
      <Button label={label} onClick={() => void copy()}>
        {isCopied === true ? texts.copied : texts.copy}
      </Button>
      {/* The label of the button hides its text from screen readers. */}
      <small role="status" class={isCopied === true ? 'hidden' : ''}>
        {isCopied === true && texts.copied}
        {isCopied === false && texts.selected}
      </small>
    </div>
  );
}

/** A secret that was made: shown this once, to be copied. */
export function ShownOnce(props: {
  title: string;
  text: string;
  value: string;
  label: string;
  onClose: () => void;
}) {
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <p>{props.text}</p>
      <Copy value={props.value} label={props.label} />
      <div class="actions">
        <Button tone="main" onClick={props.onClose}>
          {texts.close}
        </Button>
      </div>
    </Dialog>
  );
}
