import { Pool } from 'pg';
import type { Client, QueryResult } from 'pg';
import type { DataSource } from 'typeorm';
import { translated } from '../sql/failures';
import type { LanePools } from '../connections/lanes';
import type { Prepared, Statement } from '../sql/prepared';
import type { DeclaredStatement } from '../sql/statement';
import { rowValues } from '../sql/row-values';
import { SteadyClient } from '../connections/steady-client';
import { currentWhole } from './whole';

/** What a pool and a single connection have in common. */
export interface Runs {
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
    return run<R>(runsOf(this.dataSource), { text: sql, values });
  }

  /** Shape: one round trip; parsed once a connection. */
  async prepared<R>(statement: Prepared, values: readonly unknown[]): Promise<R[]> {
    return run<R>(runsOf(this.dataSource), { name: statement.name, text: statement.text, values });
  }

  /** Runs a statement with its values: prepared, when it has a name. */
  run<R>(statement: Statement<R>): Promise<R[]>;
  run<P extends object, R>(statement: DeclaredStatement<P, R>, params: NoInfer<P>): Promise<R[]>;
  async run<P extends object, R>(statement: Statement<R> | DeclaredStatement<P, R>, params?: P): Promise<R[]> {
    return run<R>(runsOf(this.dataSource), boundStatement(statement, params));
  }

  /**
   * A connection of its own beside the pool, for a session lock that must die with the connection. The caller ends it
   * and listens to its errors. Units: `statementMs` longest run of a statement.
   */
  async alone(name: string, statementMs: number): Promise<Client> {
    const client = new SteadyClient({
      connectionString: this.url,
      application_name: name,
      statement_timeout: statementMs,
      types: rowValues,
    });
    await client.connect();
    return client;
  }

  /** A few connections of their own beside the pool, for a library that brings its own SQL. The caller ends them. */
  apart(name: string, count: number): Pool {
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
    return poolOf(this.dataSource);
  }
}

/** What lists are read by: `Database`, or `Tx` inside a unit of work. */
export interface Reads {
  run<R>(statement: Statement<R>): Promise<R[]>;
  run<P extends object, R>(statement: DeclaredStatement<P, R>, params: NoInfer<P>): Promise<R[]>;
}

/** Reads outside of any transaction. */
export function readsOf(dataSource: DataSource): Reads {
  return {
    run: <P extends object, R>(statement: Statement<R> | DeclaredStatement<P, R>, params?: P) =>
      run<R>(runsOf(dataSource), boundStatement(statement, params)),
  };
}

/** Within a whole, inside of it: nobody else sees what was written there. */
function runsOf(dataSource: DataSource): Runs {
  return currentWhole(dataSource) ?? poolOf(dataSource);
}

function poolOf(dataSource: DataSource): LanePools {
  // TypeORM's own type of its driver does not tell that `master` is the pg pool.
  return (dataSource.driver as unknown as { master: LanePools }).master;
}

/** A declared statement with its values; any other as it is. */
export function boundStatement<P extends object, R>(
  statement: Statement<R> | DeclaredStatement<P, R>,
  params: P | undefined,
): Statement<R> {
  return params === undefined ? (statement as Statement<R>) : (statement as DeclaredStatement<P, R>).with(params);
}

/** Runs one statement and gives its rows. Errors: as `Database`. */
export async function run<R>(connection: Runs, statement: Statement<R>): Promise<R[]> {
  try {
    return (await connection.query(statement)).rows as R[];
  } catch (error) {
    throw translated(error);
  }
}
