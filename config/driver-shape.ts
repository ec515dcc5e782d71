import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Driver } from '../core/contracts/driver.ts';

const flag = { type: 'boolean' };

const capabilities = {
  type: 'object',
  properties: {
    deduplicates: flag,
    window: { type: 'integer', minimum: 1 },
    receipts: { enum: ['none', 'delivered', 'read'] },
    readsOnly: flag,
    offlineMessages: flag,
    remoteLink: flag,
    recipients: { enum: ['phone', 'address', 'contacts'] },
    maxText: { type: 'integer', minimum: 1 },
    linkMethods: { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1 },
    imports: {
      type: 'object',
      properties: { contacts: flag, history: flag },
      required: ['contacts', 'history'],
      additionalProperties: false,
    },
    media: flag,
    restrictions: flag,
    paced: flag,
    proxies: flag,
  },
  required: [...['deduplicates', 'receipts', 'recipients', 'linkMethods', 'imports', 'media']],
  // A misspelt one would be taken for its default.
  additionalProperties: false,
};

/** Compiled for the first driver from outside; few gateways have one. */
let check: ValidateFunction | undefined;

/**
 * Checks that a factory has made a driver; types prove nothing about code from outside. Pure.
 * @throws Error that says what is wrong with it
 */
export function refuseNoDriver(made: unknown): Driver {
  const wrong = faultOf(made);
  if (wrong !== null) throw new Error(`what the factory made is no driver: ${wrong}`);
  // Every member that the contract requires is checked.
  return made as Driver;
}

function faultOf(made: unknown): string | null {
  if (typeof made !== 'object' || made === null) return 'it is no object';
  const driver: { [Name in keyof Driver]?: unknown } = made;
  if (typeof driver.open !== 'function') return 'open is no function';
  for (const name of ['credentialsOf', 'close'] as const) {
    if (driver[name] !== undefined && typeof driver[name] !== 'function') {
      return `${name} is no function`;
    }
  }
  for (const rule of ['identifier', 'address'] as const) {
    if (driver[rule] !== undefined && !isRule(driver[rule])) {
      return `${rule} needs a description and a function parse`;
    }
  }
  check ??= new Ajv2020({ strict: false }).compile(capabilities);
  if (check(driver.capabilities)) return null;
  const [error] = check.errors ?? [];
  const capabilityPath = `capabilities${error?.instancePath.replaceAll('/', '.') ?? ''}`;
  if (error?.keyword === 'additionalProperties') {
    const { additionalProperty } = error.params;
    return `${capabilityPath}.${additionalProperty} is no capability that this gateway knows`;
  }
  return `${capabilityPath} ${error?.message ?? 'is wrong'}`;
}

function isRule(rule: unknown): boolean {
  if (typeof rule !== 'object' || rule === null) return false;
  if (!('description' in rule) || typeof rule.description !== 'string') return false;
  return 'parse' in rule && typeof rule.parse === 'function';
}
