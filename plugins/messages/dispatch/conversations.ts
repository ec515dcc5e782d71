import type { QueuePosition } from '../tables/message-rows.ts';
import { type Conversation, ConversationTurns } from './turns.ts';

/** The first message of a conversation. */
export interface Head extends QueuePosition {
  /** Why its last try without an answer in this session has none; null: there was no such try. */
  readonly unanswered: string | null;
}

/**
 * The queue of one account as conversations, each with one message under way at most. Contacts that become one person
 * become one conversation. No I/O.
 */
export class Conversations {
  /** Whose turn it is, to be asked only. */
  readonly turns: ConversationTurns;
  readonly #all = new Map<string, Conversation>();
  /** Contacts behind those that have become one with them while their messages were under way. */
  readonly #behind = new Map<string, Set<string>>();
  /** Why tries of this session have no answer, by the ids of their messages. */
  readonly #unanswered = new Map<string, string>();
  #size = 0;

  /** @param window how many conversations may have a message under way, at least 1 */
  constructor(window: number) {
    this.turns = new ConversationTurns(window);
  }

  /** How many messages are known here, those under way among them. */
  get size(): number {
    return this.#size;
  }

  /** No message is known that waits or is under way. */
  get isIdle(): boolean {
    return this.#size === 0;
  }

  /** The message that `start` would take first, were there room; null without one. */
  get next(): QueuePosition | null {
    return this.turns.first?.positions[0] ?? null;
  }

  has(contactId: string): boolean {
    return this.#all.has(contactId) || this.#behind.has(contactId);
  }

  /** Adds a message behind all that were added before. */
  add(position: QueuePosition): void {
    this.#size += 1;
    const existing = this.#all.get(position.contactId);
    if (existing !== undefined) {
      existing.positions.push(position);
      return;
    }
    const { contactId } = position;
    const made: Conversation = { contactId, positions: [position], state: 'ready', turn: 0 };
    this.#all.set(contactId, made);
    this.#makeReady(made);
  }

  /**
   * Takes the first messages of as many conversations as may start now; they are under way from here on.
   * @param most how many at most
   */
  start(most = Number.POSITIVE_INFINITY): readonly Head[] {
    const heads: Head[] = [];
    while (this.turns.free > 0 && heads.length < most) {
      const conversation = this.turns.first;
      if (conversation === null) break;
      heads.push(...this.#begin(conversation));
    }
    return heads;
  }

  /** Whether a try of this session that has no answer is to be repeated. */
  isUnanswered(id: string): boolean {
    return this.#unanswered.has(id);
  }

  /** Takes one message out of turn if it is the only one of its conversation and may start now. */
  startAlone({ id, contactId }: QueuePosition): boolean {
    const conversation = this.#all.get(contactId);
    const isAlone = conversation?.positions.length === 1 && conversation.positions[0]?.id === id;
    if (!isAlone || conversation.state !== 'ready' || this.turns.free === 0) return false;
    this.#begin(conversation);
    return true;
  }

  /** The message under way is sent or final: the next of its conversation may follow. */
  finish(contactId: string): void {
    const conversation = this.#end(contactId);
    if (conversation === null) return;
    const finished = conversation.positions.shift();
    this.#unanswered.delete(finished?.id ?? '');
    this.#size -= 1;
    if (conversation.positions.length === 0) this.#all.delete(contactId);
    else this.#makeReady(conversation);
    this.#letFollow(contactId);
  }

  /**
   * The message under way is to be sent again; its conversation pauses until `resume`, and earlier messages that have
   * joined it meanwhile go first then.
   * @param unanswered why the driver may have handed it to the network without an answer; null: it surely has not
   */
  pause(contactId: string, unanswered: string | null = null): void {
    const conversation = this.#end(contactId);
    if (conversation === null) return;
    const [first] = conversation.positions;
    if (unanswered !== null && first !== undefined) this.#unanswered.set(first.id, unanswered);
    conversation.state = 'paused';
    const [, second] = conversation.positions;
    if (first !== undefined && second !== undefined && first.sequence > second.sequence) {
      conversation.positions.sort(inOrder);
    }
  }

  /** Ends the pause of a conversation. */
  resume(contactId: string): void {
    const conversation = this.#all.get(contactId);
    if (conversation?.state === 'paused') this.#makeReady(conversation);
  }

  /** Ids of the contacts with a queued message or one under way. */
  contactIds(): readonly string[] {
    return [...this.#all.keys()];
  }

  /**
   * Two contacts are one person: what waits for the one joins the conversation of the other, in order of acceptance, and
   * follows what is under way.
   */
  merge(from: string, into: string): void {
    const old = this.#all.get(from);
    if (old === undefined || from === into) return;
    if (old.state === 'underWay') {
      this.#behind.set(into, (this.#behind.get(into) ?? new Set()).add(from));
    }
    const moved = old.positions.splice(old.state === 'underWay' ? 1 : 0);
    if (old.positions.length === 0) {
      this.#all.delete(from);
      this.turns.leave(old);
    }
    this.#size -= moved.length;
    for (const position of moved) this.add({ ...position, contactId: into });
    const target = this.#all.get(into);
    if (target === undefined) return;
    const underWay = target.state === 'underWay' ? target.positions.splice(0, 1) : [];
    target.positions.sort(inOrder);
    target.positions.unshift(...underWay);
    if (target.state === 'ready') this.#makeReady(target);
    if (!this.#all.has(from)) this.#letFollow(from);
  }

  /** The message of a contact that has become one with another is over, or has joined the other's. */
  #letFollow(from: string): void {
    for (const [into, others] of this.#behind) {
      if (!others.delete(from)) continue;
      if (others.size === 0) this.#behind.delete(into);
      this.merge(from, into);
      const target = this.#all.get(into);
      if (target?.state === 'behind') this.#makeReady(target);
    }
  }

  #begin(conversation: Conversation): readonly Head[] {
    const [first] = conversation.positions;
    this.turns.leave(conversation);
    if (first === undefined) return [];
    this.turns.begin(conversation);
    return [{ ...first, unanswered: this.#unanswered.get(first.id) ?? null }];
  }

  #end(contactId: string): Conversation | null {
    const conversation = this.#all.get(contactId);
    if (conversation?.state !== 'underWay') return null;
    this.turns.end(conversation);
    return conversation;
  }

  #makeReady(conversation: Conversation): void {
    if (this.#behind.has(conversation.contactId)) {
      this.turns.leave(conversation);
      conversation.state = 'behind';
    } else {
      this.turns.await(conversation);
    }
  }
}

function inOrder(one: QueuePosition, other: QueuePosition): number {
  return one.sequence - other.sequence;
}
