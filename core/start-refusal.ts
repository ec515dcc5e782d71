/**
 * The gateway cannot start, for a reason that whoever runs it can change. The message is one sentence: the file or setting,
 * what is wrong with it, and what to do. Printed without a stack.
 */
export class StartRefusal extends Error {
  constructor(message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.name = 'StartRefusal';
  }
}
