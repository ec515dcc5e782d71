import { useState } from 'preact/hooks';
import type { Contact, Session } from './session.ts';
import { texts } from './texts.ts';
import { Button, Confirm, Problem, useTask } from './ui.tsx';

/** What is held about a person: taken out as JSON lines, or erased. */
export function ContactData(props: { session: Session; contact: Contact; onErased: () => void }) {
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
  URL.revokeObjectURL(url);
}
