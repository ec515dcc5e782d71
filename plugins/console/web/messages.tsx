import { useEffect, useState } from 'preact/hooks';
import type { PageProps } from './app.tsx';
import { Choice, Field, submitting, useTask } from './forms.tsx';
import { useAccounts } from './loaded.ts';
import { MessageRow } from './message-row.tsx';
import {
  type Asked,
  type Found,
  type People,
  search,
  searchOn,
  type Wanted,
} from './message-search.ts';
import { PeopleChoice } from './people-choice.tsx';
import { texts } from './texts.ts';
import { Button, Empty, Page, Problem } from './ui.tsx';

const nothing: Wanted = {
  ...{ words: '', person: '', contactId: '', accountId: '', id: '', direction: '' },
  ...{ status: '', errorCode: '', since: '', until: '' },
};

const directions = ['', 'inbound', 'outbound'] as const;
const statuses = ['', 'queued', 'sent', 'delivered', 'read', 'failed', 'received'] as const;

/** Finds messages by words, person, account, id, state, error and time; each with its way from queued to read. */
export function Messages({ session }: PageProps) {
  const { sought } = session;
  const [wanted, want] = useState(sought.wanted ?? nothing);
  const [found, setFound] = useState<Found | People | null>(null);
  useEffect(() => void Object.assign(sought, { wanted }));
  const accounts = useAccounts(session);
  const task = useTask();
  const change = (part: Partial<Wanted>) => want({ ...wanted, ...part });
  const run = (asked: Asked, before: Found | null = null) => {
    sought.asked = asked;
    const read = () => (before === null ? search(session, asked) : searchOn(session, before));
    return task.run(async () => setFound(await read()));
  };
  const again = () => sought.asked && run(sought.asked);
  // Anew for whoever comes back: what was found may be deleted.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once
  useEffect(() => void again(), []);
  const { states, messages: words } = texts;
  return (
    <Page title={texts.menu.messages}>
      <form class="card" onSubmit={submitting(() => run({ wanted, pages: 1 }))}>
        <div class="fields">
          <Field
            label={words.words}
            type="search"
            value={wanted.words}
            onInput={(words) => change({ words })}
          />
          <Field
            label={words.person}
            type="search"
            value={wanted.person}
            onInput={(person) => change({ person, contactId: '' })}
            placeholder={texts.conversations.searchHint}
          />
          <Choice
            label={texts.usage.account}
            value={wanted.accountId}
            options={[
              ['', texts.usage.allAccounts],
              ...(accounts.value ?? []).map((one) => [one.id, one.identifier] as const),
            ]}
            onChange={(accountId) => change({ accountId, contactId: '' })}
          />
          <Field label={words.id} value={wanted.id} onInput={(id) => change({ id })} />
          <Choice
            label={words.direction}
            value={wanted.direction}
            options={directions.map((one) => [one, words.directions[one || 'any']])}
            onChange={(direction) => change({ direction })}
          />
          <Choice
            label={words.status}
            value={wanted.status}
            options={statuses.map((one) => [one, one === '' ? words.directions.any : states[one]])}
            onChange={(status) => change({ status })}
          />
          <Field
            label={words.errorCode}
            value={wanted.errorCode}
            onInput={(errorCode) => change({ errorCode })}
            placeholder="expired"
          />
          <Field
            label={words.since}
            type="date"
            value={wanted.since}
            onInput={(since) => change({ since })}
          />
          <Field
            label={words.until}
            type="date"
            value={wanted.until}
            onInput={(until) => change({ until })}
          />
        </div>
        <div class="actions">
          <Button onClick={() => want(nothing)}>{words.clear}</Button>
          <Button type="submit" tone="main" isBusy={task.isBusy}>
            {words.find}
          </Button>
        </div>
      </form>
      <Problem error={accounts.error} lost={texts.away} />
      <Problem error={task.error} lost={texts.notReached} onRetry={again} />
      {found !== null &&
        ('people' in found ? (
          <PeopleChoice
            found={found}
            isBusy={task.isBusy}
            onChoose={({ contact: { id, phone, name, address } }) => {
              const chosen = { ...wanted, person: phone ?? (name || address), contactId: id };
              want(chosen);
              void run({ wanted: chosen, pages: 1 });
            }}
          />
        ) : (
          <Results
            found={found}
            isBusy={task.isBusy}
            onMore={() => run({ wanted: found.wanted, pages: found.pages + 1 }, found)}
          />
        ))}
    </Page>
  );
}

function Results(props: { found: Found; isBusy: boolean; onMore: () => void }) {
  const { messages, next } = props.found;
  const words = texts.messages;
  return (
    <>
      {messages.length === 0 && <Empty>{next === null ? words.nothing : words.nothingYet}</Empty>}
      <ul class="rows">
        {messages.map((message) => (
          <MessageRow key={message.id} message={message} />
        ))}
      </ul>
      {next !== null && (
        <Button onClick={props.onMore} isBusy={props.isBusy}>
          {texts.more}
        </Button>
      )}
    </>
  );
}
