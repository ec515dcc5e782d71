import { useEffect, useRef, useState } from 'preact/hooks';
import type { PageProps } from './app.tsx';
import { Choice, Field, submitting, useTask } from './forms.tsx';
import { useAccounts } from './loaded.ts';
import { MessageRow } from './message-row.tsx';
import { type Found, type People, search, searchOn, type Wanted } from './message-search.ts';
import { PeopleChoice } from './people-choice.tsx';
import type { Session } from './session.ts';
import { texts } from './texts.ts';
import { Button, Empty, Page, Problem } from './ui.tsx';

const nothing: Wanted = {
  ...{ words: '', person: '', contactId: '', accountId: '', id: '', direction: '' },
  ...{ status: '', errorCode: '', since: '', until: '' },
};

const directions = ['', 'inbound', 'outbound'] as const;
const statuses = ['', 'queued', 'sent', 'delivered', 'read', 'failed', 'received'] as const;

/** What was sought and found last: whoever comes back from a conversation finds it again. */
const kept = new WeakMap<
  Session,
  { readonly wanted: Wanted; readonly found: Found | People | null }
>();

/** Finds messages by words, person, account, id, state, error and time; each with its way from queued to read. */
export function Messages({ session }: PageProps) {
  const [wanted, want] = useState(kept.get(session)?.wanted ?? nothing);
  const [found, setFound] = useState(kept.get(session)?.found ?? null);
  useEffect(() => void kept.set(session, { wanted, found }));
  const accounts = useAccounts(session);
  const task = useTask();
  const change = (part: Partial<Wanted>) => want({ ...wanted, ...part });
  /** What was asked last, for whoever tries again. */
  const last = useRef<() => Promise<Found | People>>(() => search(session, wanted));
  const run = (read: () => Promise<Found | People>) => {
    last.current = read;
    return task.run(async () => setFound(await read()));
  };
  const { states, messages: words } = texts;
  return (
    <Page title={texts.menu.messages}>
      <form class="card" onSubmit={submitting(() => run(() => search(session, wanted)))}>
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
      <Problem error={task.error} lost={texts.notReached} onRetry={() => run(last.current)} />
      {found !== null &&
        ('people' in found ? (
          <PeopleChoice
            found={found}
            isBusy={task.isBusy}
            onChoose={({ contact: { id, phone, name, address } }) => {
              const chosen = { ...wanted, person: phone ?? (name || address), contactId: id };
              want(chosen);
              void run(() => search(session, chosen));
            }}
          />
        ) : (
          <Results
            found={found}
            isBusy={task.isBusy}
            onMore={() => run(() => searchOn(session, found))}
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
