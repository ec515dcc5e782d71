/** How many spent chains of a session are kept for messages that come late. The protocol's own library keeps five. */
const keptChains = 20;

/** What the cipher calls a chain that messages come in by. */
const receiving = 2;

/**
 * A session with one contact's device as the cipher writes it, without its oldest receiving chains: the cipher keeps
 * one for every turn of the conversation, for ever, so that each message would cost more than the one before. Pure;
 * what is no such record is given back as it is.
 */
export function withoutOldChains(record: unknown): unknown {
  if (!isObject(record) || !isObject(record._sessions)) return record;
  const sessions = Object.entries(record._sessions).map(([key, session]) => {
    if (!isObject(session) || !isObject(session._chains)) return [key, session] as const;
    // Objects keep the order in which their members came: the oldest first.
    const chains = Object.entries(session._chains);
    const incoming = chains.filter(([, chain]) => isReceiving(chain)).map(([name]) => name);
    const old = new Set(incoming.slice(0, -keptChains));
    const kept = Object.fromEntries(chains.filter(([name]) => !old.has(name)));
    return [key, { ...session, _chains: kept }] as const;
  });
  return { ...record, _sessions: Object.fromEntries(sessions) };
}

function isReceiving(chain: unknown): boolean {
  return isObject(chain) && chain.chainType === receiving;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !ArrayBuffer.isView(value);
}
