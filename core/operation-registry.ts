import { ErrorDeclarations } from './error-declarations.ts';
import type { AnyOperation } from './operation.ts';
import type { OutgoingCall } from './outgoing-call.ts';
import { scopes } from './scopes.ts';

/** Collects the operations of all plugins while the gateway boots. */
export class OperationRegistry {
  readonly #operations: AnyOperation[] = [];
  readonly #outgoing: OutgoingCall[] = [];
  readonly #taken = new Map<string, string>();
  readonly #errors = new ErrorDeclarations();
  readonly #fromOutside = new Set<AnyOperation>();
  #isOpen = false;

  /**
   * Called by plugins while they boot.
   * @throws Error when it declares no scope, when the path (whatever its parameters are called), the id or the tool is taken, or an error that it declares is
   *   wrong or means something else already
   */
  add(...operations: readonly AnyOperation[]): void {
    for (const added of operations) {
      if (added.scope !== null && !scopes.includes(added.scope)) {
        throw new Error(
          `operation "${added.id}" must declare a scope: ${scopes.join(', ')} or null`,
        );
      }
      this.#errors.claim(added.errors, added.id);
      this.#claim(`${added.method} ${added.path.replaceAll(/\{[^}]+\}/g, '{}')}`, added.id);
      this.#claim(`id ${added.id}`, added.id);
      if (added.tool !== null) this.#claim(`tool ${added.tool}`, added.id);
      this.#operations.push(added);
      if (this.#isOpen) this.#fromOutside.add(added);
    }
  }

  /** Declares requests that the gateway makes by itself. Called by plugins while they boot. */
  addOutgoing(...calls: readonly OutgoingCall[]): void {
    this.#outgoing.push(...calls);
  }

  /** All of these requests, in the order in which they were declared. */
  outgoing(): readonly OutgoingCall[] {
    return this.#outgoing;
  }

  /** What is added from now on comes from outside. Called before the first plugin from outside boots. */
  openToOutside(): void {
    this.#isOpen = true;
  }

  /** Whether a plugin from outside added it: nobody has tried its schemas. */
  isFromOutside(operation: AnyOperation): boolean {
    return this.#fromOutside.has(operation);
  }

  /** All operations in the order in which they were added. */
  all(): readonly AnyOperation[] {
    return this.#operations;
  }

  #claim(name: string, id: string): void {
    const owner = this.#taken.get(name);
    if (owner !== undefined) {
      throw new Error(`operation "${id}" declares ${name}, which operation "${owner}" already has`);
    }
    this.#taken.set(name, id);
  }
}
