import type { Lane, Storage } from '../../core/contracts/storage.ts';
import { GatewayError } from '../../core/errors.ts';
import { oneByOne } from '../../core/one-by-one.ts';
import { pacedSteps } from '../../core/paced-steps.ts';
import {
  type ContactChangeInput,
  type ForgettingMessages,
  makeContactChangeLane,
} from './change.ts';
import type { Contact } from './contract.ts';

/** A private contact, by its id or an alias. */
export type ForgetInput = Omit<ContactChangeInput, 'changes'>;

/** The lane that deletes some of what is left of a contact made private; answers whether there is more. */
function makeForgetSomeLane(
  messages: Pick<ForgettingMessages, 'forgetSome'>,
): Lane<ForgetInput, boolean> {
  return {
    name: 'contacts.forget-some',
    maxBatch: 1,
    locks: ({ tenantId }) => [`tenant:${tenantId}`],
    run: oneByOne(async (unit, { tenantId, id }) => {
      const contact = await unit.contacts.find(tenantId, id);
      const isLeft = contact?.private && (await messages.forgetSome(unit, tenantId, contact.id));
      return isLeft ?? false;
    }),
  };
}

/** Changes contacts, and deletes the messages of private ones in steps; see `change`. */
export class ContactChanger {
  readonly #storage: Pick<Storage, 'submit'>;
  readonly #signal: AbortSignal;
  readonly #change: ReturnType<typeof makeContactChangeLane>;
  readonly #forgetSome: ReturnType<typeof makeForgetSomeLane>;

  /** @param signal ends what is under way after its step; the erasure that has begun goes on */
  constructor(storage: Pick<Storage, 'submit'>, messages: ForgettingMessages, signal: AbortSignal) {
    this.#storage = storage;
    this.#signal = signal;
    this.#change = makeContactChangeLane(messages);
    this.#forgetSome = makeForgetSomeLane(messages);
  }

  /**
   * The contact after its change; null when the tenant has none. Of one that is private then no message is left, and none
   * of before is shown again of one that is so no more.
   * @throws GatewayError `unavailable`, also when the process stops meanwhile: the same again goes on with it
   */
  async change(input: ContactChangeInput): Promise<Contact | null> {
    for (;;) {
      const contact = await this.#storage.submit(this.#change, input);
      if (contact === null) return null;
      if (contact !== 'forgetting') {
        if (input.changes.private === true) await this.#forget(input);
        return contact;
      }
      await this.#forget(input);
    }
  }

  /** One step of forgetting. */
  forgetSome(input: ForgetInput): Promise<boolean> {
    return this.#storage.submit(this.#forgetSome, input);
  }

  async #forget({ tenantId, id }: ForgetInput): Promise<void> {
    await pacedSteps(() => this.forgetSome({ tenantId, id }), this.#signal);
    if (this.#signal.aborted) throw new GatewayError('unavailable', { retryAfterS: 1 });
  }
}
