import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import type { DomainEvent, ServiceName } from '@rookery/contracts';
import { backoffMs, CommitInDoubt, RookeryError, Unavailable } from '@rookery/kernel';
import type { Clock } from '@rookery/kernel';
import { runForWaiter, currentWaiter } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import { boundStatement, runStatement } from './database';
import { translateDatabaseError, wasRolledBack, abortReasonOf } from '../sql/failures';
import type { AbortReason } from '../sql/failures';
import { LastStatementFailed, maxLastStatementWaitMs, sendLastStatementWithCommit } from './last-statement';
import type { LastStatement } from './last-statement';
import { outboxRow, writeOutbox } from './outbox';
import type { OutboxRow } from './outbox';
import type { PreparedStatement, Statement } from '../sql/prepared';
import type { DeclaredStatement } from '../sql/statement';
import type { SteadyClient } from '../connections/steady-client';
import { currentOuterTransaction, OuterTransaction } from './outer-transaction';

/** A running transaction, passed to every function that takes part in it. */
export interface Tx {
  /** TypeORM inside this transaction. */
  readonly manager: EntityManager;
  query<R>(sql: string, values?: readonly unknown[]): Promise<R[]>;
  prepared<R>(statement: PreparedStatement, values: readonly unknown[]): Promise<R[]>;
  /** Runs a statement with its values: prepared, when it has a name. */
  run<R>(statement: Statement<R>): Promise<R[]>;
  run<P extends object, R>(statement: DeclaredStatement<P, R>, params: NoInfer<P>): Promise<R[]>;
  /**
   * Runs a step whose failure does not fail the transaction. A failed step leaves neither rows nor events. Errors:
   * those of the step.
   */
  attempt<T>(step: () => Promise<T>): Promise<T>;
  /** Lifts the statement timeout for the rest of this transaction. */
  allowLongStatements(): Promise<void>;
  /** Emits an event. Events are collected and written in one insert just before the commit. */
  emit(event: DomainEvent): void;
  /** Runs after the use case and before the outbox is written; may emit and may add more steps. */
  beforeCommit(step: (tx: Tx) => Promise<void>): void;
  /**
   * Adds a step that runs after all others and whose statements are sent together with the outbox insert, without a
   * wait in between: for a lock that all writers wait for. It may emit; a failed `attempt` does not remove it. `alone`
   * is an equivalent statement to send with the commit: it replaces the step if it is the only last step and a last
   * statement can be used.
   */
  beforeCommitLast(step: (tx: Tx) => Promise<void>, alone?: LastStatement): void;
  /**
   * Sets the statement that is sent with the commit. Null in the retry after a failed last statement, and in a unit
   * inside an outer transaction: there the caller makes the same change at once.
   */
  readonly sendWithCommit: ((last: LastStatement) => void) | null;
  /** Runs once the commit is confirmed; must not fail and must not be relied on, since the process may die before. */
  afterCommit(step: () => void): void;
}

interface BeforeCommitStep {
  readonly take: (tx: Tx) => Promise<void>;
  readonly alone: LastStatement | undefined;
}

/** Units: retries after the first try. Source: reference reliability 5. */
const MAX_RETRIES = 3;
/** Longest wait before a retry; the wait is a random part of it. Units: ms. */
const RETRY = { first: 10, most: 100 };

/**
 * The unit of work: one transaction in which rows and their events commit together or not at all. It runs START
 * TRANSACTION, the statements of the use case, one outbox insert (a second one for events of the last steps) and
 * COMMIT.
 *
 * The whole use case is retried, at most 3 times, after a deadlock or a serialization failure. It must therefore be
 * free of outside effects. After a long wait inside, such as for a row lock, permissions are rechecked before the
 * commit.
 * Errors: Unavailable when the database is away, no connection is free in time or every retry was aborted;
 * CommitInDoubt when the answer to the commit was lost; those of the permission recheck; a plain Error for a nested run
 * (outside production).
 * Source: reference reliability 2.1, 5; ADR 0020, 0050.
 */
export class Work {
  /** Called whenever the database aborts a transaction that may be retried. */
  onAborted: (why: AbortReason) => void = () => undefined;
  private readonly listeners = new Set<() => void>();
  /** Detecting a nested run costs a hook on every promise, so production omits it. */
  // eslint-disable-next-line no-restricted-properties -- Node's own convention, not a setting of ours
  private readonly running = process.env['NODE_ENV'] === 'production' ? null : new AsyncLocalStorage<true>();

  constructor(
    readonly dataSource: DataSource,
    private readonly service: ServiceName,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  async run<T>(use: (tx: Tx) => Promise<T>): Promise<T> {
    const outer = currentOuterTransaction(this.dataSource);
    const unit = outer
      ? (): Promise<T> => outer.run(use)
      : (isRetry: boolean): Promise<T> => this.runTransactionOnce(use, !isRetry);
    if (!this.running) return this.retryAborted(unit);
    if (this.running.getStore()) throw new Error('a unit of work runs inside another; hand the transaction on instead');
    return this.running.run(true, () => this.retryAborted(unit));
  }

  /**
   * Runs all units of work of a request in one transaction: their rows and events are committed at the end, and a unit
   * that fails is rolled back alone. Reads by `Database` inside see uncommitted rows. It is not retried as a whole.
   * Errors: as `run`; Unavailable in place of a deadlock.
   */
  runInOneTransaction<T>(use: (tx: Tx, outer: OuterTransaction) => Promise<T>): Promise<T> {
    const waiter = currentWaiter();
    if (!waiter) throw new Error('an outer transaction needs a request');
    return this.runTransactionOnce((unit) => {
      const outer = new OuterTransaction(this.dataSource, unit.connection, (step) => unit.runNested(step));
      return runForWaiter({ ...waiter, outerTransaction: outer }, () => use(unit, outer));
    }).catch((error: unknown) => {
      throw abortReasonOf(error) === null ? translateDatabaseError(error) : retriesExhaustedError(error);
    });
  }

  /**
   * As `run`, but always in a separate transaction, even inside an outer one: for rows that stay although the request
   * fails.
   */
  runIndependent<T>(use: (tx: Tx) => Promise<T>): Promise<T> {
    if (!currentOuterTransaction(this.dataSource)) return this.run(use);
    const { outerTransaction: _, ...waiter } = currentWaiter()!;
    return runForWaiter({ ...waiter, kind: 'holder' }, () => this.run(use));
  }

  /** Calls the listener after each commit with events in the outbox of this process: the relay's wake-up. */
  onEmitted(listener: () => void): void {
    this.listeners.add(listener);
  }

  private async retryAborted<T>(unit: (isRetry: boolean) => Promise<T>): Promise<T> {
    let isRetry = false;
    for (let retry = 0; ;) {
      try {
        return await unit(isRetry);
      } catch (error) {
        // Happens at most once and is no failure.
        if (error instanceof LastStatementFailed) {
          isRetry = true;
          continue;
        }
        const why = abortReasonOf(error);
        if (why === null) throw translateDatabaseError(error);
        this.onAborted(why);
        if (retry >= MAX_RETRIES) throw retriesExhaustedError(error);
        await pause(Math.random() * backoffMs(retry + 1, RETRY));
        retry += 1;
      }
    }
  }

  private async runTransactionOnce<T>(use: (unit: TransactionUnit) => Promise<T>, takesLast = false): Promise<T> {
    const rights = currentWaiter()?.rights;
    const runner = this.dataSource.createQueryRunner();
    let unit: TransactionUnit | undefined;
    try {
      unit = new TransactionUnit(runner, (await runner.connect()) as SteadyClient, this.service, this.clock, takesLast);
      await runner.startTransaction();
      const begunAt = performance.now();
      const result = await use(unit);
      // Rechecked before the last statements too: they hold locks that all writes of the service wait for.
      await rights?.recheckBeforeWrite();
      await unit.finish();
      await rights?.recheckBeforeWrite();
      // The server's clock measures the time since the transaction began, which was before `begunAt`.
      await unit.commit(performance.now() - begunAt + maxLastStatementWaitMs(rights));
      rights?.recordCommit();
      this.runAfterCommitSteps(unit);
      return result;
    } catch (error) {
      // After a commit in doubt the connection is lost, and a rollback would reach no server.
      if (runner.isTransactionActive && !(error instanceof CommitInDoubt))
        await runner.rollbackTransaction().catch(() => undefined);
      throw error;
    } finally {
      unit?.restoreConnection();
      await runner.release();
    }
  }

  private runAfterCommitSteps(unit: TransactionUnit): void {
    const own = unit.all.flatMap(({ afterwards }) => afterwards);
    const steps = unit.all.some(({ hasEmitted }) => hasEmitted) ? [...own, ...this.listeners] : own;
    for (const step of steps) {
      try {
        step();
      } catch (error) {
        this.logger.error({ err: error }, 'a step after a commit failed');
      }
    }
  }
}

/** Repeated aborts are no fault of the request: the client may send it again. */
function retriesExhaustedError(cause: unknown): Unavailable {
  const unavailable = new Unavailable('database slow');
  unavailable.cause = cause;
  return unavailable;
}

/**
 * Commits. Errors: Unavailable if the connection was lost before the commit was sent; CommitInDoubt if its outcome is
 * unknown.
 */
async function commitTransaction(runner: QueryRunner): Promise<void> {
  if (runner.isReleased) throw new Unavailable('database away');
  try {
    await runner.commitTransaction();
  } catch (error) {
    throw wasRolledBack(error) ? error : new CommitInDoubt(error);
  }
}

class TransactionUnit implements Tx {
  readonly manager: EntityManager;
  readonly sendWithCommit: Tx['sendWithCommit'];
  readonly afterwards: (() => void)[] = [];
  /** This unit and the completed units inside it, in order. */
  readonly all: TransactionUnit[] = [this];
  private readonly beforehand: ((tx: Tx) => Promise<void>)[] = [];
  private readonly last: BeforeCommitStep[] = [];
  private readonly rows: OutboxRow[] = [];
  /** The number of `rows` that are in the outbox already. */
  private written = 0;
  private lastStatement: LastStatement | null = null;
  private allowsLongStatements = false;

  constructor(
    private readonly runner: QueryRunner,
    readonly connection: SteadyClient,
    private readonly service: ServiceName,
    private readonly clock: Clock,
    takesLast = false,
  ) {
    this.manager = runner.manager;
    this.sendWithCommit = takesLast ? (last) => (this.lastStatement = last) : null;
  }

  get hasEmitted(): boolean {
    return this.rows.length > 0;
  }

  query<R>(sql: string, values: readonly unknown[] = []): Promise<R[]> {
    return runStatement<R>(this.connection, { text: sql, values });
  }

  prepared<R>(statement: PreparedStatement, values: readonly unknown[]): Promise<R[]> {
    return runStatement<R>(this.connection, { name: statement.name, text: statement.text, values });
  }

  run<R>(statement: Statement<R>): Promise<R[]>;
  run<P extends object, R>(statement: DeclaredStatement<P, R>, params: NoInfer<P>): Promise<R[]>;
  run<P extends object, R>(statement: Statement<R> | DeclaredStatement<P, R>, params?: P): Promise<R[]> {
    return runStatement<R>(this.connection, boundStatement(statement, params));
  }

  async attempt<T>(step: () => Promise<T>): Promise<T> {
    const [rows, beforehand, afterwards] = [this.rows.length, this.beforehand.length, this.afterwards.length];
    await this.query('savepoint attempt');
    try {
      const result = await step();
      await this.query('release savepoint attempt');
      return result;
    } catch (error) {
      // A database error, such as a deadlock, ends the whole transaction.
      if (!(error instanceof RookeryError)) throw error;
      await this.query('rollback to savepoint attempt');
      // Steps may be nested: the name must refer to the outer savepoint again.
      await this.query('release savepoint attempt');
      this.rows.length = rows;
      this.beforehand.length = beforehand;
      this.afterwards.length = afterwards;
      throw error;
    }
  }

  /** Runs a nested unit that may fail alone. Errors: those of `use`; the savepoint releases its locks too. */
  async runNested<T>(use: (tx: Tx) => Promise<T>): Promise<T> {
    const unit = new TransactionUnit(this.runner, this.connection, this.service, this.clock);
    await this.query('savepoint unit');
    try {
      const result = await use(unit);
      await this.query('release savepoint unit');
      this.all.push(unit);
      this.beforeCommit(() => unit.finish());
      return result;
    } catch (error) {
      unit.restoreConnection();
      await this.query('rollback to savepoint unit').catch(() => undefined);
      throw error;
    }
  }

  async allowLongStatements(): Promise<void> {
    this.connection.allowLongStatements();
    this.allowsLongStatements = true;
    await this.query('set local statement_timeout = 0');
  }

  /** Restores the connection's silence limit. */
  restoreConnection(): void {
    if (this.all.some(({ allowsLongStatements }) => allowsLongStatements)) this.connection.restoreSilenceLimit();
  }

  emit(event: DomainEvent): void {
    this.rows.push(outboxRow(this.service, event, this.clock.now()));
  }

  beforeCommit(step: (tx: Tx) => Promise<void>): void {
    this.beforehand.push(step);
  }

  beforeCommitLast(take: (tx: Tx) => Promise<void>, alone?: LastStatement): void {
    this.last.push({ take, alone });
  }

  afterCommit(step: () => void): void {
    this.afterwards.push(step);
  }

  async finish(): Promise<void> {
    // A step may add steps, hence no iterator over a fixed list.
    for (let step = this.beforehand.shift(); step; step = this.beforehand.shift()) await step(this);
    // A last statement takes the events along.
    if (this.canSendRestWithCommit()) return;
    const eventsWritten = this.writeEvents();
    eventsWritten.catch(() => undefined);
    try {
      for (let step = this.last.shift(); step; step = this.last.shift()) await step.take(this);
    } catch (error) {
      // After a failure the server refuses all later statements: the first error is the cause.
      await eventsWritten;
      throw error;
    }
    await eventsWritten;
    await this.writeEvents();
  }

  /** Whether all remaining work is sent with the commit. */
  private canSendRestWithCommit(): boolean {
    const [step, ...others] = this.last;
    if (step?.alone && others.length === 0 && this.sendWithCommit !== null && this.lastStatement === null) {
      this.lastStatement = step.alone;
      this.last.length = 0;
    }
    return this.lastStatement !== null && this.last.length === 0;
  }

  /** Errors: LastStatementFailed; those of `commitTransaction`. */
  async commit(patienceMs: number): Promise<void> {
    const { lastStatement } = this;
    if (lastStatement === null || this.runner.isReleased) return commitTransaction(this.runner);
    const commits = (): Promise<void> => commitTransaction(this.runner);
    const rows = await sendLastStatementWithCommit(
      () => this.writeEvents(),
      () => this.run(lastStatement.statement(patienceMs)),
      async () => lastStatement.follow && this.run(lastStatement.follow()),
      commits,
    );
    lastStatement.done?.(rows);
  }

  /** Writes the events since the last call. */
  private async writeEvents(): Promise<void> {
    const rows = this.rows.slice(this.written);
    this.written = this.rows.length;
    if (rows.length > 0) await writeOutbox(this, rows);
  }
}
