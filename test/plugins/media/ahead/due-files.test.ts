import t from 'tap';
import { DueFiles } from '../../../../plugins/media/ahead/due-files.ts';

/** Fetches of one server: how many have begun, and a way to end the oldest. */
class Server {
  begun = 0;
  readonly #ends: (() => void)[] = [];
  readonly #due: DueFiles;
  readonly #name: string;

  constructor(due: DueFiles, name: string) {
    this.#due = due;
    this.#name = name;
  }

  /** A file whose fetch begins at once, as one that was fetched early does when it is due. */
  begin = (): Promise<void> => {
    this.begun += 1;
    const settled = new Promise<void>((resolve) => this.#ends.push(resolve));
    return this.#due.follow(this.#name, settled);
  };

  add(count: number): void {
    for (let n = 0; n < count; n += 1) {
      if (this.#due.hasRoom(this.#name)) void this.begin();
      else void this.#due.await(this.#name, `${this.#name} ${n}`, this.begin);
    }
  }

  async end(count: number): Promise<void> {
    for (const end of this.#ends.splice(0, count)) end();
    await new Promise(setImmediate);
  }
}

t.test('a server above its share holds up no other', async (t) => {
  const due = new DueFiles(4);
  const [slow, quick] = [new Server(due, 'slow'), new Server(due, 'quick')];
  slow.add(8);
  quick.add(8);
  t.same([slow.begun, quick.begun], [4, 4], 'each has its share');
  // Two that were fetched early are due now.
  void slow.begin();
  void slow.begin();
  await slow.end(1);
  t.equal(slow.begun, 6, 'five are under way still');
  await quick.end(4);
  t.equal(quick.begun, 8);
  await slow.end(2);
  t.equal(slow.begun, 7, 'the next once there is room');
});
