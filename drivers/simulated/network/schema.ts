/** The tables of the simulated network. Times in milliseconds since the epoch. */
export const schema = `
CREATE TABLE IF NOT EXISTS phones (
  id INTEGER PRIMARY KEY,
  network TEXT NOT NULL,
  channel TEXT NOT NULL,
  phone TEXT NOT NULL,
  record TEXT NOT NULL,
  changed_at INTEGER NOT NULL,
  UNIQUE (network, phone, channel)
);
CREATE TABLE IF NOT EXISTS messages (
  id INTEGER PRIMARY KEY,
  phone_id INTEGER NOT NULL,
  network_id TEXT NOT NULL,
  reference TEXT NOT NULL,
  recipient TEXT NOT NULL,
  text TEXT NOT NULL,
  media_url TEXT,
  at INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  receipts INTEGER NOT NULL,
  UNIQUE (phone_id, reference)
);
CREATE INDEX IF NOT EXISTS messages_by_phone ON messages (phone_id, id);
CREATE INDEX IF NOT EXISTS messages_by_recipient ON messages (phone_id, recipient);
CREATE TABLE IF NOT EXISTS inbound (
  phone_id INTEGER NOT NULL,
  network_id TEXT NOT NULL,
  sender TEXT NOT NULL,
  event TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (phone_id, network_id)
);
CREATE INDEX IF NOT EXISTS inbound_by_sender ON inbound (phone_id, sender);
CREATE TABLE IF NOT EXISTS offers (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  phone_id INTEGER NOT NULL,
  event TEXT NOT NULL,
  due_at INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS offers_by_phone ON offers (phone_id, id);
CREATE TABLE IF NOT EXISTS unreachable (network TEXT PRIMARY KEY);
`;
