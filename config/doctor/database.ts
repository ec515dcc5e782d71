import { type DatabaseReport, type ServerSettings, serverName, tooOld } from '../compose-doctor.ts';
import { bad, type Finding, good } from './finding.ts';

/** Most difference between the clocks of database and process: times of the one are compared with times of the other. */
const mostClockMs = 1_000;

/** Connections that one process opens at most. */
const connectionsEach = 22;

/** The least size of a packet, in bytes: the writes of a transaction travel in one. */
const leastPacket = 16 * 1_048_576;

/**
 * Judges a database that answers. Pure.
 * @param processes how many live on the database; 1 before the first start
 */
export function judgeDatabase(report: DatabaseReport, processes = 1): readonly Finding[] {
  const { server } = report;
  if (server === null)
    return [good('database', `SQLite ${report.version} answers.`), clock(report)];
  const old = tooOld(report.version);
  const version =
    old === null
      ? good('database', `${serverName(report.version)} ${report.version} answers.`)
      : bad('database', old);
  const durability =
    server.flushAtCommit === 1
      ? good('durability', 'A commit is on the disk when the database answers.')
      : bad(
          'durability',
          `innodb_flush_log_at_trx_commit is ${server.flushAtCommit}: set it to 1, or a crash of the machine loses messages that were answered 202.`,
        );
  const found = [version, durability, connections(server, processes), packet(server)];
  return [...found, ...erasure(server), clock(report)];
}

function connections({ maxConnections: most }: ServerSettings, processes: number): Finding {
  const opened = processes * connectionsEach;
  const who = processes === 1 ? 'a process opens' : `${processes} processes open`;
  const each = processes === 1 ? `one opens up to ${opened}` : `${processes} open up to ${opened}`;
  return most > opened
    ? good('connections', `The database takes ${most} connections, ${who} at most ${opened}.`)
    : bad('connections', `max_connections is ${most}: set it to 30 for each process, as ${each}.`);
}

function packet({ maxPacket }: ServerSettings): Finding {
  const size = `${Number((maxPacket / 1_048_576).toFixed(1))} MiB`;
  return maxPacket >= leastPacket
    ? good('packets', `The database takes packets of ${size}.`)
    : bad(
        'packets',
        `max_allowed_packet is ${size}: set it to 16 MiB or more, as the writes of a transaction travel together.`,
      );
}

/** MySQL has no such setting: nothing is said. */
function erasure({ scrubs }: ServerSettings): readonly Finding[] {
  if (scrubs === null) return [];
  return [
    scrubs
      ? good('erasure', 'The database overwrites what is deleted.')
      : bad(
          'erasure',
          'innodb_immediate_scrub_data_uncompressed is OFF: set it to ON, or the bytes of erased people stay in the files of the database.',
        ),
  ];
}

function clock({ clockDifferenceMs: ms }: DatabaseReport): Finding {
  const difference = `The clocks of database and gateway differ by ${Math.abs(Math.round(ms))} ms`;
  return Math.abs(ms) <= mostClockMs
    ? good('clock', `${difference}.`)
    : bad('clock', `${difference}: let both machines follow one time server.`);
}
