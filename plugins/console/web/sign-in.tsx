import { useLayoutEffect, useState } from 'preact/hooks';
import { Refusal } from '../../../client/refusal.ts';
import { Field, submitting, useTask } from './forms.tsx';
import { texts } from './texts.ts';
import { Bones, Button, Problem } from './ui.tsx';

/** Asks for a key. */
export function SignIn(props: {
  error: unknown;
  isAsking: boolean;
  enter: (key: string) => Promise<void>;
}) {
  const [key, setKey] = useState('');
  const task = useTask();
  const { error } = props;
  useLayoutEffect(() => {
    document.title = texts.product;
  }, []);
  // A TypeError: no header can carry it.
  const isUnknown =
    error instanceof TypeError || (error instanceof Refusal && error.status === 401);
  return (
    <main class="sign-in" id="main">
      <h1>{texts.product}</h1>
      {props.isAsking ? (
        <>
          <Problem error={error} lost={texts.away} />
          <Bones />
        </>
      ) : (
        <form onSubmit={submitting(() => task.run(() => props.enter(key.trim())))}>
          <Field
            label={texts.signIn.key}
            type="password"
            value={key}
            onInput={setKey}
            hint={texts.signIn.hint}
            isRequired
          />
          <Problem error={isUnknown ? texts.signIn.unknown : error} lost={texts.notReached} />
          <Button type="submit" tone="main" isBusy={task.isBusy}>
            {texts.signIn.enter}
          </Button>
        </form>
      )}
    </main>
  );
}
