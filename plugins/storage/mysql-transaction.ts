import type { Knex } from 'knex';
import type { Connection } from 'mysql2';
import { bindable } from './bindings.ts';
import { builderOn } from './builder.ts';
import { fitForLog } from './faults.ts';
import { answerTimeoutMs, writerOf } from './mysql.ts';
import { Pipeline } from './pipeline.ts';
import type { Transaction } from './transaction.ts';

/** Begins a transaction on MariaDB or MySQL; BEGIN itself travels with the first statement. */
export async function beginMysql(write: Knex): Promise<Transaction> {
  const { client } = write;
  const connection: Connection = await client.acquireConnection();
  const pipeline = new Pipeline(connection, writerOf(connection), answerTimeoutMs);
  let over = false;
  const end = async (ending: () => Promise<void>): Promise<void> => {
    over = true;
    try {
      await ending();
    } catch (error) {
      throw fitForLog(error);
    } finally {
      client.releaseConnection(connection);
    }
  };
  return {
    ask: (statement) => pipeline.ask(statement),
    builder: (ask) =>
      builderOn(write, async (query) => {
        const { sql, options } = query;
        const statement = { sql, bindings: bindable(query.bindings ?? []) };
        query.response = await ask({ ...statement, timeoutMs: options?.timeout });
      }),
    commit: (last) => end(() => pipeline.commit(last)),
    async rollBack() {
      // A failed rollback destroys the connection, and with it the transaction.
      if (!over) await end(() => pipeline.rollBack().catch(() => connection.destroy()));
    },
  };
}
