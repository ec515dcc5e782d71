import { useState } from 'preact/hooks';
import { Confirm, Dialog, Field, Form, Options, useTask } from './forms.tsx';
import type { Contact, Session } from './session.ts';
import { nameOf, texts } from './texts.ts';
import { Button, Problem } from './ui.tsx';

const flags = ['do_not_disturb', 'automation_paused', 'private'] as const;
type Flag = (typeof flags)[number];

/** The contact's name and flags, behind a button. */
export function ContactDetails(props: {
  session: Session;
  contact: Contact;
  onChange: () => void;
  onErased: () => void;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>{texts.contact.open}</Button>
      {isOpen && <Details {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

function Details(props: {
  session: Session;
  contact: Contact;
  onChange: () => void;
  onErased: () => void;
  onClose: () => void;
}) {
  const { session, onClose } = props;
  /** As it was when this was opened: others may change it meanwhile. */
  const [contact] = useState(props.contact);
  const [name, setName] = useState(contact.name);
  const [chosen, choose] = useState<readonly Flag[]>(() => flags.filter((flag) => contact[flag]));
  const task = useTask();
  const becomesPrivate = chosen.includes('private') && !contact.private;
  const save = async () => {
    const changed = flags.filter((flag) => chosen.includes(flag) !== contact[flag]);
    const body = {
      ...(name !== contact.name && { name }),
      ...Object.fromEntries(changed.map((flag) => [flag, chosen.includes(flag)])),
    };
    if (Object.keys(body).length === 0) return;
    // The contact may have changed although the answer was lost.
    await session.patient
      .call('update_contact', { path: { id: contact.id }, body })
      .finally(props.onChange);
  };
  return (
    <Dialog title={nameOf(contact)} onClose={onClose}>
      <Form
        task={task}
        run={() => task.run(save, onClose)}
        action={texts.contact.save}
        tone={becomesPrivate ? 'danger' : 'main'}
        onCancel={onClose}
      >
        <Field label={texts.contact.name} value={name} onInput={setName} />
        <Options
          label={texts.contact.flags}
          chosen={chosen}
          options={flags.map((flag) => [flag, texts.contact[flag], texts.contact.meanings[flag]])}
          onChange={choose}
        />
        {becomesPrivate && <p class="why">{texts.contact.privateWarning}</p>}
        <p class="quiet">
          <code>{contact.id}</code>
        </p>
        <ContactData session={session} contact={contact} onErased={props.onErased} />
      </Form>
    </Dialog>
  );
}

/** What is held about a person: taken out as JSON lines, or erased. */
function ContactData(props: { session: Session; contact: Contact; onErased: () => void }) {
  const { session, contact, onErased } = props;
  const { client } = session;
  const [isAsking, ask] = useState(false);
  const task = useTask();
  const save = async () => {
    const lines = await client.call('export_contact', { path: { id: contact.id } });
    download(
      `${contact.id}.jsonl`,
      lines.map((line) => `${JSON.stringify(line)}\n`),
    );
  };
  return (
    <>
      <Problem error={task.error} />
      <div class="actions start">
        <Button onClick={() => task.run(save)} isBusy={task.isBusy}>
          {texts.contact.export}
        </Button>
        <Button tone="danger" onClick={() => ask(true)}>
          {texts.contact.erase}
        </Button>
      </div>
      {isAsking && (
        <Confirm
          title={texts.contact.eraseTitle}
          text={texts.contact.eraseText}
          action={texts.contact.erase}
          run={async () => {
            await client.call('erase_contact', { path: { id: contact.id } });
            onErased();
          }}
          onClose={() => ask(false)}
        />
      )}
    </>
  );
}

function download(name: string, lines: readonly string[]): void {
  const url = URL.createObjectURL(new Blob([...lines], { type: 'application/x-ndjson' }));
  const link = Object.assign(document.createElement('a'), { href: url, download: name });
  link.click();
  // Safari asks first, and reads the file when that is answered.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
