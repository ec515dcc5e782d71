import { useState } from 'preact/hooks';
import { ContactData } from './contact-data.tsx';
import type { Contact, Session } from './session.ts';
import { nameOf, texts } from './texts.ts';
import { Button, Dialog, Field, Problem, useTask } from './ui.tsx';

const flags = ['do_not_disturb', 'automation_paused', 'private'] as const;

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
  const [chosen, setChosen] = useState(() => flags.filter((flag) => contact[flag]));
  const task = useTask();
  const becomesPrivate = chosen.includes('private') && !contact.private;
  const save = async () => {
    const changed = flags.filter((flag) => chosen.includes(flag) !== contact[flag]);
    const body = {
      ...(name !== contact.name && { name }),
      ...Object.fromEntries(changed.map((flag) => [flag, chosen.includes(flag)])),
    };
    if (Object.keys(body).length === 0) return;
    await session.client.call('update_contact', { path: { id: contact.id }, body });
    props.onChange();
  };
  return (
    <Dialog title={nameOf(contact)} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void task.run(save, onClose);
        }}
      >
        <Field label={texts.contact.name} value={name} onInput={setName} />
        <fieldset class="field">
          <legend>{texts.contact.flags}</legend>
          {flags.map((flag) => (
            <label key={flag} class="option">
              <input
                type="checkbox"
                checked={chosen.includes(flag)}
                onChange={(event) =>
                  setChosen(
                    event.currentTarget.checked
                      ? [...chosen, flag]
                      : chosen.filter((one) => one !== flag),
                  )
                }
              />
              <span>
                {texts.contact[flag]} <small>{texts.contact.meanings[flag]}</small>
              </span>
            </label>
          ))}
        </fieldset>
        {becomesPrivate && <p class="why">{texts.contact.privateWarning}</p>}
        <p class="quiet">
          <code>{contact.id}</code>
        </p>
        <Problem error={task.error} />
        <ContactData session={session} contact={contact} onErased={props.onErased} />
        <div class="actions">
          <Button onClick={onClose}>{texts.cancel}</Button>
          <Button type="submit" tone={becomesPrivate ? 'danger' : 'main'} isBusy={task.isBusy}>
            {texts.contact.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
