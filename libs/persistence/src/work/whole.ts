import { currentWaiter } from '@rookery/platform';
import type { QueryResult } from 'pg';
import type { DataSource } from 'typeorm';
import type { Statement } from '../sql/prepared';
import type { SteadyClient } from '../connections/steady-client';
import type { Tx } from './work';

/**
 * One transaction of all that is done for a request: its units of work are savepoints of it, and whatever else it reads
 * is read inside. Source: docs/reference/reliability.md 5.
 */
export class Whole {
  private last: Promise<unknown> = Promise.resolve();
  private reading: Promise<unknown> = Promise.resolve();
  private steps = 0;

  constructor(
    readonly dataSource: DataSource,
    private readonly connection: SteadyClient,
    private readonly step: <T>(use: (tx: Tx) => Promise<T>) => Promise<T>,
  ) {}

  /** Whether any unit of work within has come to its end. */
  get hasWritten(): boolean {
    return this.steps > 0;
  }

  /** A read inside, after those before it: whoever shows something asks for several things at once. */
  query(statement: Statement): Promise<QueryResult> {
    const own = this.reading.then(() => this.connection.query(statement as never) as unknown as Promise<QueryResult>);
    this.reading = own.catch(() => undefined);
    return own;
  }

  /** A unit of work within, after those before it. Errors: those of `use`, of which nothing stays then. */
  run<T>(use: (tx: Tx) => Promise<T>): Promise<T> {
    const own = this.last.then(() => this.step(use));
    this.last = own.then(
      () => (this.steps += 1),
      () => undefined,
    );
    return own;
  }
}

/** Null where each unit of work is a transaction by itself, as it is unless the sender named the write. */
export function currentWhole(dataSource: DataSource): Whole | null {
  const whole = currentWaiter()?.whole;
  return whole instanceof Whole && whole.dataSource === dataSource ? whole : null;
}
