import type { Client, Pool, QueryResult } from 'pg';
import type { DataSource } from 'typeorm';
import { translated } from './failures';
import type { Prepared } from './prepared';
import { rowValues } from './row-values';
import { SteadyClient } from './steady-client';

/** What a pool and a single connection have in common. */
export interface Runs {
  query(statement: { name?: string; text: string; values?: unknown[] }): Promise<QueryResult>;
}

/**
 * Hand-written SQL outside a transaction. Purpose: hot reads go straight to the pg pool that TypeORM holds, without
 * its query runner, its broadcaster and unnamed statements.
 * Errors: Unavailable when the database is away, has no free connection in time, or took too long.
 * Source: design/performance, learnt 2 and 4.
 */
export class Database {
  constructor(
    readonly dataSource: DataSource,
    private readonly url: string,
  ) {}

  async query<R>(sql: string, values: readonly unknown[] = []): Promise<R[]> {
    return run<R>(this.pool, { text: sql, values: values as unknown[] });
  }

  /** Shape: one round trip; parsed once a connection. */
  async prepared<R>(statement: Prepared, values: readonly unknown[]): Promise<R[]> {
    return run<R>(this.pool, { name: statement.name, text: statement.text, values: values as unknown[] });
  }

  /**
   * A connection of its own beside the pool, for a session lock that must die with the connection. The caller ends it
   * and listens to its errors; nothing here times its statements out.
   */
  async alone(name: string): Promise<Client> {
    const client = new SteadyClient({
      connectionString: this.url,
      application_name: name,
      connectionTimeoutMillis: 5000,
      keepAlive: true,
      types: rowValues,
    });
    await client.connect();
    return client;
  }

  private get pool(): Pool {
    // TypeORM's own type of its driver does not tell that `master` is the pg pool.
    return (this.dataSource.driver as unknown as { master: Pool }).master;
  }
}

/** Runs one statement and gives its rows. Errors: as `Database`. */
export async function run<R>(
  connection: Runs,
  statement: { name?: string; text: string; values: unknown[] },
): Promise<R[]> {
  try {
    return (await connection.query(statement)).rows as R[];
  } catch (error) {
    throw translated(error);
  }
}
