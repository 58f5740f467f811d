import { currentWaiter } from '@rookery/platform';
import type { QueryResult } from 'pg';
import type { DataSource } from 'typeorm';
import type { Statement } from '../sql/prepared';
import type { SteadyClient } from '../connections/steady-client';
import type { Tx } from './work';

/**
 * One transaction for all work of a request: its units of work are savepoints, and its other reads run inside as well.
 * Source: docs/reference/reliability.md 5.
 */
export class OuterTransaction {
  private last: Promise<unknown> = Promise.resolve();
  private reading: Promise<unknown> = Promise.resolve();
  private steps = 0;

  constructor(
    readonly dataSource: DataSource,
    private readonly connection: SteadyClient,
    private readonly step: <T>(use: (tx: Tx) => Promise<T>) => Promise<T>,
  ) {}

  /** Whether any unit of work inside has completed. */
  get hasWritten(): boolean {
    return this.steps > 0;
  }

  /** Runs a read after earlier ones: presenters start several reads at once. */
  query(statement: Statement): Promise<QueryResult> {
    const own = this.reading.then(() => this.connection.query(statement as never) as unknown as Promise<QueryResult>);
    this.reading = own.catch(() => undefined);
    return own;
  }

  /** Runs a unit of work after earlier ones. Errors: those of `use`, whose changes are rolled back then. */
  run<T>(use: (tx: Tx) => Promise<T>): Promise<T> {
    const own = this.last.then(() => this.step(use));
    this.last = own.then(
      () => (this.steps += 1),
      () => undefined,
    );
    return own;
  }
}

/**
 * The outer transaction, or null if each unit of work is a transaction of its own, as it is without an idempotency key.
 */
export function currentOuterTransaction(dataSource: DataSource): OuterTransaction | null {
  const outer = currentWaiter()?.outerTransaction;
  return outer instanceof OuterTransaction && outer.dataSource === dataSource ? outer : null;
}
