/** A message that a floor is to send. */
export interface FloorMessage {
  readonly id: string;
  /** A phone number. */
  readonly to: string;
  readonly text: string;
}

/** How many contacts have a message under way. */
const window = 8;

/** Messages in the order in which they came: one under way to each contact, to `window` contacts at once. */
export class Lanes {
  readonly #send: (message: FloorMessage) => Promise<void>;
  readonly #queues = new Map<string, FloorMessage[]>();
  /** Contacts with a message that can go, the longest waiting first. */
  readonly #ready: string[] = [];
  #underWay = 0;
  #left = 0;

  constructor(send: (message: FloorMessage) => Promise<void>) {
    this.#send = send;
  }

  /** How many are not answered. */
  get left(): number {
    return this.#left;
  }

  add(messages: readonly FloorMessage[]): void {
    this.#left += messages.length;
    for (const message of messages) {
      const queue = this.#queues.get(message.to);
      if (queue !== undefined) queue.push(message);
      else {
        this.#queues.set(message.to, [message]);
        this.#ready.push(message.to);
      }
    }
    this.#handOver();
  }

  #handOver(): void {
    while (this.#underWay < window) {
      const contact = this.#ready.shift();
      if (contact === undefined) return;
      this.#underWay += 1;
      void this.#next(contact);
    }
  }

  async #next(contact: string): Promise<void> {
    const queue = this.#queues.get(contact);
    const message = queue?.shift();
    if (message !== undefined) await this.#send(message);
    this.#underWay -= 1;
    this.#left -= 1;
    if (queue !== undefined && queue.length > 0) this.#ready.push(contact);
    else this.#queues.delete(contact);
    this.#handOver();
  }
}
