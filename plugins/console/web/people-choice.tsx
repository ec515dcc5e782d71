import type { People, Person } from './message-search.ts';
import { channelName, nameOf, texts } from './texts.ts';
import { Button, Empty, Name } from './ui.tsx';

/** People that a name or number may mean, for a choice; without any it says so. */
export function PeopleChoice(props: {
  found: People;
  isBusy: boolean;
  onChoose: (person: Person) => void;
}) {
  const { people, hasMore } = props.found;
  const { nothingFound, nothingYet } = texts.conversations;
  if (people.length === 0) {
    return <Empty>{hasMore ? nothingYet : nothingFound}</Empty>;
  }
  return (
    <section class="card">
      <p>{texts.messages.whose}</p>
      <ul class="rows">
        {people.map((person) => (
          <li key={person.contact.id}>
            <Button onClick={() => props.onChoose(person)} isDisabled={props.isBusy}>
              <Name>{nameOf(person.contact)}</Name>
              {person.contact.name !== '' && <bdi> {person.contact.address}</bdi>} ·{' '}
              {channelName(person.channel)}
            </Button>
          </li>
        ))}
      </ul>
      {hasMore && <p class="quiet">{texts.messages.moreMatch}</p>}
    </section>
  );
}
