import { useState } from 'preact/hooks';
import type { PageProps } from './app.tsx';
import { MessageRow } from './message-row.tsx';
import { type Found, search, type Wanted } from './message-search.ts';
import { texts } from './texts.ts';
import { Button, Choice, Empty, Field, Page, Problem, useTask } from './ui.tsx';

const nothing: Wanted = {
  ...{ words: '', id: '', status: '', direction: '', errorCode: '', since: '', until: '' },
};

const directions = ['', 'inbound', 'outbound'] as const;
const statuses = ['', 'queued', 'sent', 'delivered', 'read', 'failed', 'received'] as const;

/** Finds messages by words, id, state, error and time; each with its way from queued to read. */
export function Messages({ session }: PageProps) {
  const [wanted, want] = useState(nothing);
  const [found, setFound] = useState<Found | null>(null);
  const task = useTask();
  const change = (part: Partial<Wanted>) => want({ ...wanted, ...part });
  const run = (after: Found | null) =>
    task.run(async () => setFound(await search(session, after?.wanted ?? wanted, after)));
  const { states, messages: words } = texts;
  return (
    <Page title={texts.menu.messages}>
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault();
          void run(null);
        }}
      >
        <div class="fields">
          <Field
            label={words.words}
            type="search"
            value={wanted.words}
            onInput={(words) => change({ words })}
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
      <Problem error={task.error} lost={texts.notReached} onRetry={() => run(null)} />
      {found !== null && (
        <>
          {found.messages.length === 0 && (
            <Empty>
              <p>{found.next === null ? words.nothing : words.nothingYet}</p>
            </Empty>
          )}
          <ul class="rows">
            {found.messages.map((message) => (
              <MessageRow key={message.id} message={message} />
            ))}
          </ul>
          {found.next !== null && (
            <Button onClick={() => run(found)} isBusy={task.isBusy}>
              {texts.more}
            </Button>
          )}
        </>
      )}
    </Page>
  );
}
