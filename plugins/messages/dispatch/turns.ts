import type { QueuePosition } from '../tables/message-rows.ts';

/** One contact's queued messages, in the order of acceptance. */
export interface Conversation {
  readonly contactId: string;
  /** The first is the next to be sent, or under way. */
  positions: QueuePosition[];
  /** `behind`: waits for the message under way of a contact that has become one with it. */
  state: 'ready' | 'underWay' | 'paused' | 'behind';
  /** Among the ready ones the lowest comes first. */
  turn: number;
}

/**
 * Whose turn it is among an account's conversations: `window` of them have a message under way at most. A conversation
 * that has had its turn goes behind the others (round robin), so that none starves. Media takes half of the window at
 * most, as an upload may be slow. No I/O.
 */
export class ConversationTurns {
  readonly #window: number;
  /** Those in state `ready`, in the order of their turns: with a text at their head, and with media. */
  readonly #texts = new TurnQueue();
  readonly #media = new TurnQueue();
  #underWay = 0;
  #mediaUnderWay = 0;
  #turns = 0;

  /** @param window how many conversations may have a message under way, at least 1 */
  constructor(window: number) {
    this.#window = Math.max(1, window);
  }

  /** How many conversations may start a message beside those under way. */
  get free(): number {
    return Math.max(0, this.#window - this.#underWay);
  }

  /** Whether a conversation may begin now. */
  get canStart(): boolean {
    return this.free > 0 && (this.#texts.size > 0 || (this.#media.size > 0 && this.#mediaFree > 0));
  }

  /** More texts could start than are known. */
  get isShort(): boolean {
    return this.#texts.size < this.free;
  }

  /** A text waits for its turn only. */
  get hasText(): boolean {
    return this.#texts.size > 0;
  }

  /** The conversation whose turn it is, were there room; null without one. */
  get first(): Conversation | null {
    const text = this.#texts.first;
    const media = this.#mediaFree > 0 ? this.#media.first : null;
    if (text === null || media === null) return text ?? media;
    return text.turn < media.turn ? text : media;
  }

  get #mediaFree(): number {
    return Math.max(1, Math.floor(this.#window / 2)) - this.#mediaUnderWay;
  }

  /** Puts a conversation behind the others; another kind of message than before may be at its head. */
  await(conversation: Conversation): void {
    this.leave(conversation);
    conversation.state = 'ready';
    this.#turns += 1;
    conversation.turn = this.#turns;
    (hasMedia(conversation) ? this.#media : this.#texts).add(conversation);
  }

  /** The conversation waits for no turn. */
  leave(conversation: Conversation): void {
    this.#texts.delete(conversation);
    this.#media.delete(conversation);
  }

  /** The message at the head of a conversation that waits for no turn is under way. */
  begin(conversation: Conversation): void {
    conversation.state = 'underWay';
    this.#underWay += 1;
    if (hasMedia(conversation)) this.#mediaUnderWay += 1;
  }

  /** The message at the head of a conversation is under way no more. */
  end(conversation: Conversation): void {
    this.#underWay -= 1;
    if (hasMedia(conversation)) this.#mediaUnderWay -= 1;
  }
}

function hasMedia({ positions: [first] }: Conversation): boolean {
  return first !== undefined && first.mediaUrl !== null;
}

/** Conversations in the order of their turns. Those that left are passed once: a set would pass them for each first one. */
class TurnQueue {
  readonly #all = new Set<Conversation>();
  #rest = this.#all.values();
  #next: { readonly conversation: Conversation; readonly turn: number } | null = null;

  get size(): number {
    return this.#all.size;
  }

  get first(): Conversation | null {
    if (this.#all.size === 0) return null;
    while (!this.#isNextThere) {
      const { value: conversation } = this.#rest.next();
      if (conversation === undefined) this.#rest = this.#all.values();
      else this.#next = { conversation, turn: conversation.turn };
    }
    return this.#next?.conversation ?? null;
  }

  /** Adds one that is not there, whose turn is behind all others. */
  add(conversation: Conversation): void {
    this.#all.add(conversation);
  }

  delete(conversation: Conversation): void {
    this.#all.delete(conversation);
  }

  get #isNextThere(): boolean {
    if (this.#next === null) return false;
    const { conversation, turn } = this.#next;
    return conversation.turn === turn && this.#all.has(conversation);
  }
}
