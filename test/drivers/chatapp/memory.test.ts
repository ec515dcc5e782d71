import t from 'tap';
import type { StoredCredentials } from '../../../core/contracts/driver.ts';
import { credentialsOf } from '../../../drivers/chatapp/memory.ts';
import type { Person } from '../../../drivers/chatapp/person.ts';

/** Answers within the same turn of the event loop, as an embedded database does. */
class CountedCredentials implements StoredCredentials {
  readonly #values: ReadonlyMap<string, string>;
  /** How many names were read, in all. */
  opened = 0;
  /** How many were read in one turn of the event loop, at most. */
  mostOpened = 0;
  #inTurn = 0;

  constructor(people: readonly Person[]) {
    this.#values = new Map(
      people.flatMap((person) => [
        [`person:${person.id}`, JSON.stringify(person)] as const,
        [`read:${person.id}`, '1'] as const,
      ]),
    );
  }

  async get(names: readonly string[]): Promise<Readonly<Record<string, string>>> {
    if (this.#inTurn === 0) {
      setImmediate(() => {
        this.#inTurn = 0;
      });
    }
    this.#inTurn += names.length;
    this.opened += names.length;
    this.mostOpened = Math.max(this.mostOpened, this.#inTurn);
    const found = names.flatMap((name) => {
      const value = this.#values.get(name);
      return value === undefined ? [] : [[name, value] as const];
    });
    return Object.fromEntries(found);
  }

  async names(prefixes: readonly string[]): Promise<readonly string[]> {
    return [...this.#values.keys()].filter((name) => prefixes.some((one) => name.startsWith(one)));
  }
}

t.test('an erasure by number among ten thousand people holds up nobody else', async (t) => {
  const number = '+12025550100';
  const owners = [0, 4_711, 9_999];
  const people = Array.from({ length: 10_000 }, (_, id): Person => {
    const shown = id % 2 === 0 ? `+1303${id}` : null;
    const phone = owners.includes(id) ? number : shown;
    return { id, accessHash: '1', phone, name: null, contact: false };
  });
  const stored = new CountedCredentials(people);
  const contact = { phone: number, networkId: null };
  const names = owners.flatMap((id) => [`person:${id}`, `read:${id}`]);
  t.same(await credentialsOf(contact, stored), names);
  t.ok(stored.mostOpened <= 250, `${stored.mostOpened} are opened in one turn`);
  t.equal(stored.opened, people.length + names.length, 'each person once');
});
