/** A setting that stops the start. Its message is one sentence for the operator, without secrets. */
export class ConfigError extends Error {
  /** The field's path, `limits.waits`, or the variable's name where no field is meant. */
  readonly field: string;

  constructor(field: string, message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.name = 'ConfigError';
    this.field = field;
  }
}
