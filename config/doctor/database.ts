import type { DatabaseFacts } from '../compose-doctor.ts';
import { bad, type Finding, good } from './finding.ts';

/** The oldest MariaDB and MySQL with `for update skip locked` and window functions. */
const oldest = { MariaDB: [10, 6], MySQL: [8, 0] } as const;

/** Most difference between the clocks of database and process: times of the one are compared with times of the other. */
const mostClockMs = 1_000;

/** Connections that one process opens at most. */
const connectionsEach = 22;

/** Judges a database that answers. Pure. */
export function judgeDatabase(facts: DatabaseFacts): readonly Finding[] {
  const { server } = facts;
  if (server === null) return [good('database', `SQLite ${facts.version} answers.`), clock(facts)];
  const kind = /mariadb/i.test(facts.version) ? 'MariaDB' : 'MySQL';
  const [major = 0, minor = 0] = facts.version.split('.').map(Number.parseFloat);
  const [leastMajor, leastMinor] = oldest[kind];
  const isOld = major < leastMajor || (major === leastMajor && minor < leastMinor);
  const version = isOld
    ? bad(
        'database',
        `${kind} ${facts.version} is too old: run ${leastMajor}.${leastMinor} or newer.`,
      )
    : good('database', `${kind} ${facts.version} answers.`);
  const durability =
    server.flushAtCommit === 1
      ? good('durability', 'A commit is on the disk when the database answers.')
      : bad(
          'durability',
          `innodb_flush_log_at_trx_commit is ${server.flushAtCommit}: set it to 1, or a crash of the machine loses messages that were answered 202.`,
        );
  const connections =
    server.maxConnections > connectionsEach
      ? good(
          'connections',
          `The database takes ${server.maxConnections} connections, a process opens at most ${connectionsEach}.`,
        )
      : bad(
          'connections',
          `max_connections is ${server.maxConnections}: set it to 30 for each process, as one opens up to ${connectionsEach}.`,
        );
  return [version, durability, connections, clock(facts)];
}

function clock({ clockDifferenceMs: ms }: DatabaseFacts): Finding {
  const difference = `The clocks of database and gateway differ by ${Math.abs(Math.round(ms))} ms`;
  return Math.abs(ms) <= mostClockMs
    ? good('clock', `${difference}.`)
    : bad('clock', `${difference}: let both machines follow one time server.`);
}
