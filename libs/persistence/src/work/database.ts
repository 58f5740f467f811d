import { Pool } from 'pg';
import type { Client, QueryResult } from 'pg';
import type { DataSource } from 'typeorm';
import { translateDatabaseError } from '../sql/failures';
import type { LanePools } from '../connections/lanes';
import type { PreparedStatement, Statement } from '../sql/prepared';
import type { DeclaredStatement } from '../sql/statement';
import { rowValues } from '../sql/row-values';
import { SteadyClient } from '../connections/steady-client';
import { currentOuterTransaction } from './outer-transaction';

/** The query method that a pool and a single connection have in common. */
export interface Queryable {
  query(statement: Statement<unknown>): Promise<QueryResult>;
}

/**
 * Hand-written SQL outside a unit of work. Purpose: hot reads go straight to the pg pool that TypeORM holds, without
 * its query runner, its broadcaster and unnamed statements.
 * Errors: Unavailable when the database is away, has no free connection in time, or took too long.
 * Source: docs/performance.md 5.2, 5.4.
 */
export class Database {
  constructor(
    readonly dataSource: DataSource,
    private readonly url: string,
  ) {}

  async query<R>(sql: string, values: readonly unknown[] = []): Promise<R[]> {
    return runStatement<R>(outerTransactionOrPool(this.dataSource), { text: sql, values });
  }

  /** Runs a prepared statement in one round trip. It is parsed once for each connection. */
  async prepared<R>(statement: PreparedStatement, values: readonly unknown[]): Promise<R[]> {
    return runStatement<R>(outerTransactionOrPool(this.dataSource), {
      name: statement.name,
      text: statement.text,
      values,
    });
  }

  /** Runs a statement with its values: prepared, when it has a name. */
  run<R>(statement: Statement<R>): Promise<R[]>;
  run<P extends object, R>(statement: DeclaredStatement<P, R>, params: NoInfer<P>): Promise<R[]>;
  async run<P extends object, R>(statement: Statement<R> | DeclaredStatement<P, R>, params?: P): Promise<R[]> {
    return runStatement<R>(outerTransactionOrPool(this.dataSource), boundStatement(statement, params));
  }

  /**
   * Opens a connection outside the pool, for a session lock that must end with the connection. The caller closes it
   * and listens to its errors. Units: `statementMs` longest run of a statement.
   */
  async openConnection(name: string, statementMs: number): Promise<Client> {
    const client = new SteadyClient({
      connectionString: this.url,
      application_name: name,
      statement_timeout: statementMs,
      types: rowValues,
    });
    await client.connect();
    return client;
  }

  /** Opens a small pool outside the shared one, for a library with SQL of its own. The caller closes it. */
  openPool(name: string, count: number): Pool {
    return new Pool({
      Client: SteadyClient,
      connectionString: this.url,
      application_name: name,
      max: count,
      connectionTimeoutMillis: 5000,
      statement_timeout: 10_000,
    });
  }

  /** The connections of the running process, by lane. */
  get pool(): LanePools {
    return lanePoolsOf(this.dataSource);
  }
}

/** The reading side of `Database` and, inside a unit of work, of `Tx`. */
export interface SqlReader {
  run<R>(statement: Statement<R>): Promise<R[]>;
  run<P extends object, R>(statement: DeclaredStatement<P, R>, params: NoInfer<P>): Promise<R[]>;
}

/** Reads outside of any transaction. */
export function createReader(dataSource: DataSource): SqlReader {
  return {
    run: <P extends object, R>(statement: Statement<R> | DeclaredStatement<P, R>, params?: P) =>
      runStatement<R>(outerTransactionOrPool(dataSource), boundStatement(statement, params)),
  };
}

/** Inside an outer transaction its connection is used, since no other sees its uncommitted rows. */
function outerTransactionOrPool(dataSource: DataSource): Queryable {
  return currentOuterTransaction(dataSource) ?? lanePoolsOf(dataSource);
}

function lanePoolsOf(dataSource: DataSource): LanePools {
  // TypeORM's type of its driver does not declare that `master` is the pg pool.
  return (dataSource.driver as unknown as { master: LanePools }).master;
}

/** Binds values to a declared statement; returns any other unchanged. */
export function boundStatement<P extends object, R>(
  statement: Statement<R> | DeclaredStatement<P, R>,
  params: P | undefined,
): Statement<R> {
  return params === undefined ? (statement as Statement<R>) : (statement as DeclaredStatement<P, R>).with(params);
}

/** Runs one statement and returns its rows. Errors: as `Database`. */
export async function runStatement<R>(connection: Queryable, statement: Statement<R>): Promise<R[]> {
  try {
    return (await connection.query(statement)).rows as R[];
  } catch (error) {
    throw translateDatabaseError(error);
  }
}
