import { useEffect, useReducer } from 'preact/hooks';
import { submitting } from './forms.tsx';
import { useLoaded } from './loaded.ts';
import {
  type Account,
  type Contact,
  type Draft,
  drafts,
  type Session,
  sendOnce,
} from './session.ts';
import { nameOf, texts } from './texts.ts';
import { Button, Problem } from './ui.tsx';

/** From here on it is said how long a text is: gateways commonly take 4,096 characters, and refuse more. */
const long = 3_500;

/** Writes to the contact; a refusal stays beside the text until it is sent. */
export function Composer(props: {
  session: Session;
  accountId: string;
  /** As the address has it: the contact's own may become another one meanwhile. */
  contactId: string;
  /** Null: it was removed; undefined: it is not known. */
  account: Account | null | undefined;
  contact: Contact;
  onSent: () => void;
}) {
  const { session, accountId, contact } = props;
  const [draft, change] = useDraft(session, `${accountId}/${props.contactId}`);
  const { text, isBusy } = draft;
  const send = async () => {
    if (text.trim() === '' || draft.isBusy) return;
    const isTold = draft.error !== null;
    change({ isBusy: true, error: null });
    try {
      const body = { to: { contact_id: contact.id }, account_id: accountId, text };
      await sendOnce(session, draft.keys, text, body, isTold);
      draft.keys.clear();
      // What was begun meanwhile stays.
      if (draft.text === text) change({ text: '' });
      props.onSent();
    } catch (error) {
      change({ error });
    }
    change({ isBusy: false });
  };
  const label = texts.conversations.messageTo(nameOf(contact));
  return (
    <form class="composer" onSubmit={submitting(send)}>
      <Hindrances
        of={[...useHindrancesOfKey(session), ...ofAccount(props.account), ...ofContact(contact)]}
      />
      <Problem error={draft.error} lost={texts.conversations.lost} />
      <div class="composer-row">
        <textarea
          aria-label={label}
          placeholder={label}
          dir="auto"
          rows={1}
          value={text}
          onInput={({ currentTarget: { value } }) => {
            if (value === '') draft.keys.clear();
            change({ text: value, error: null });
          }}
          onKeyDown={(event) => {
            // Safari says that a composition is over before the Enter that ended it: that Enter has the code 229.
            const isComposing = event.isComposing || event.keyCode === 229;
            if (event.key !== 'Enter' || event.shiftKey || isComposing) return;
            event.preventDefault();
            void send();
          }}
        />
        <Button type="submit" tone="main" isBusy={isBusy} isDisabled={text.trim() === ''}>
          {texts.conversations.send}
        </Button>
      </div>
      <p class="quiet">
        {text.length > long
          ? texts.conversations.characters([...text].length)
          : texts.conversations.enterSends}
      </p>
    </form>
  );
}

/** The draft of a conversation, and what changes it, also after the composer is gone. */
function useDraft({ me }: Session, conversation: string) {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const of = `${me.tenant.id}/${conversation}`;
  const draft: Draft = drafts.get(of) ?? {
    ...{ text: '', keys: new Map(), isBusy: false, error: null, redraw: null },
  };
  drafts.set(of, draft);
  useEffect(() => {
    draft.redraw = () => redraw(null);
    // It may have changed since it was drawn.
    redraw(null);
    return () => {
      draft.redraw = null;
    };
  }, [draft]);
  const change = (part: Partial<Draft>) => {
    Object.assign(draft, part);
    draft.redraw?.();
  };
  return [draft, change] as const;
}

/** Says why a message would be refused or wait, before anything is written. */
export function Hindrances(props: { of: readonly string[] }) {
  return props.of.map((one) => (
    <p class="hindrance" key={one}>
      {one}
    </p>
  ));
}

/** Why any message of the key would be refused. Read by each conversation that opens, and when the tab is shown again. */
export function useHindrancesOfKey({ client, me }: Session): readonly string[] {
  const { key, tenant } = useLoaded(() => client.call('get_me'), [client]).value ?? me;
  const { suspended, scope, confirmed } = texts.conversations.hindrances;
  return [
    ...(tenant.status === 'suspended' ? [suspended] : []),
    ...(key.scopes?.includes('send') === false ? [scope] : []),
    ...(key.confirm_sends ? [confirmed] : []),
  ];
}

/** Why any message from the account would be refused or wait; null: it was removed, undefined: not known. */
export function ofAccount(account: Account | null | undefined): readonly string[] {
  const { hindrances } = texts.conversations;
  if (account === undefined) return [];
  if (account === null) return [hindrances.gone];
  const { limits, status, status_detail } = account;
  return [
    ...(limits.sends < limits.sends_cap ? [] : [hindrances.sends]),
    ...(status === 'connecting' || status === 'disconnected' ? [hindrances[status]] : []),
    ...(status === 'restricted' ? [status_detail ?? hindrances.restricted] : []),
  ];
}

/** Why a message to the contact would be refused. */
function ofContact(contact: Contact): readonly string[] {
  const { hindrances } = texts.conversations;
  return [
    ...(contact.do_not_disturb ? [hindrances.doNotDisturb] : []),
    ...(contact.private ? [hindrances.private] : []),
  ];
}
