/** The driver's options, checked. Times in milliseconds. */
export interface MsgappWebOptions {
  /** Where the network listens. */
  readonly websocketUrl: string | null;
  /** The key that vouches for the network's servers, raw; null: the real network's. */
  readonly rootPublicKey: Buffer | null;
  /** The version of the network's web client to log in as; null: the one that the library was made for. */
  readonly webVersion: [number, number, number] | null;
  /** Pause between two checks whether a restriction of the whole account is over. */
  readonly restrictionCheckMs: number;
  /** Pause between two questions whether the network still answers on a connection that is open. */
  readonly probeMs: number;
}

const isAbsent = (value: unknown) => value === undefined || value === null;
const isText = (pattern: RegExp) => (value: unknown) =>
  isAbsent(value) || (typeof value === 'string' && pattern.test(value));
const isSeconds = (value: unknown) =>
  isAbsent(value) || (typeof value === 'number' && value >= 0.01 && value <= 86_400);

const fields = {
  websocket_url: { isRight: isText(/^wss?:\/\/.+/), expected: 'a ws:// or wss:// address' },
  root_public_key: {
    isRight: isText(/^[A-Za-z0-9+/]{43}=$/),
    expected: 'a raw key of 32 bytes in base64',
  },
  web_version: {
    isRight: isText(/^\d{1,9}\.\d{1,9}\.\d{1,12}$/),
    expected: 'a version such as 2.3000.1023223821',
  },
  restriction_check_s: { isRight: isSeconds, expected: 'seconds, 0.01 to 86400' },
  probe_s: { isRight: isSeconds, expected: 'seconds, 0.01 to 86400' },
} as const;

type FieldName = keyof typeof fields;

/**
 * Checks the options of the configuration. Called when the driver is made.
 * @throws Error that names the field
 */
export function parseOptions(options: Readonly<Record<string, unknown>>): MsgappWebOptions {
  for (const [name, value] of Object.entries(options)) {
    const field = Object.hasOwn(fields, name) ? fields[name as FieldName] : undefined;
    if (field === undefined) throw new Error(`the driver msgapp_web has no option ${name}`);
    if (!field.isRight(value)) throw new Error(`${name} must be ${field.expected}`);
  }
  const url = textOf(options.websocket_url);
  if (url !== null && !URL.canParse(url)) {
    throw new Error(`websocket_url must be ${fields.websocket_url.expected}`);
  }
  const key = textOf(options.root_public_key);
  return {
    websocketUrl: url,
    rootPublicKey: key === null ? null : Buffer.from(key, 'base64'),
    webVersion: versionOf(textOf(options.web_version)),
    restrictionCheckMs: numberOf(options.restriction_check_s, 900) * 1_000,
    probeMs: numberOf(options.probe_s, 120) * 1_000,
  };
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function versionOf(text: string | null): [number, number, number] | null {
  if (text === null) return null;
  const [primary = 0, secondary = 0, tertiary = 0] = text.split('.').map(Number);
  return [primary, secondary, tertiary];
}

function numberOf(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}
