/** Who has a server of his own for the tests names it in these variables. */
export const variables = { mariadb: 'TEST_MARIADB_URL', rabbitmq: 'TEST_AMQP_URL' } as const;

export type ServerName = keyof typeof variables;

/**
 * Answers the address of the run's MariaDB or RabbitMQ. The run starts it when the first of its processes asks, and
 * installs its programs before if need be; `lendServers` is the other side.
 * @throws Error outside a run, and where the server cannot be had; the message says what to do.
 */
export async function serverUrl(name: ServerName): Promise<string> {
  const variable = variables[name];
  const { [variable]: given, TEST_SERVERS_URL: lender } = process.env;
  if (given) return given;
  if (!lender) throw new Error(`${variable} is not set: run this file with \`npm test -- FILE\`.`);
  const answer = await fetch(`${lender}/${name}`);
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  process.env[variable] = text;
  return text;
}

/** Asks for all of them before they are needed: what is missing here is said at once. */
export async function askForServers(): Promise<void> {
  await Promise.all([serverUrl('mariadb'), serverUrl('rabbitmq')]);
}
