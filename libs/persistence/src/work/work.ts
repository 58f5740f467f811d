import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import type { DomainEvent, ServiceName } from '@rookery/contracts';
import { InDoubt, RookeryError, Unavailable } from '@rookery/kernel';
import type { Clock } from '@rookery/kernel';
import { awaitedBy, currentWaiter } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import { boundStatement, run } from './database';
import { translated, wasRolledBack, whyBrokenOff } from '../sql/failures';
import type { BrokenOff } from '../sql/failures';
import { NotAsHoped, patienceOf, together } from './last-statement';
import type { LastStatement } from './last-statement';
import { outboxRow, writeOutbox } from './outbox';
import type { OutboxRow } from './outbox';
import type { Prepared, Statement } from '../sql/prepared';
import type { DeclaredStatement } from '../sql/statement';
import type { SteadyClient } from '../connections/steady-client';
import { currentWhole, Whole } from './whole';

/** A running transaction, handed to everything that takes part in it. */
export interface Tx {
  /** TypeORM inside this transaction. */
  readonly manager: EntityManager;
  query<R>(sql: string, values?: readonly unknown[]): Promise<R[]>;
  prepared<R>(statement: Prepared, values: readonly unknown[]): Promise<R[]>;
  /** Runs a statement with its values: prepared, when it has a name. */
  run<R>(statement: Statement<R>): Promise<R[]>;
  run<P extends object, R>(statement: DeclaredStatement<P, R>, params: NoInfer<P>): Promise<R[]>;
  /**
   * One of several steps that may fail alone: what a step refuses leaves no trace of it, neither rows nor events, and the
   * transaction goes on. Errors: those of the step.
   */
  attempt<T>(step: () => Promise<T>): Promise<T>;
  /** From here on, statements of this transaction may run for as long as they take. */
  takeTime(): Promise<void>;
  /** Announces a fact. Collected, and written in one insert just before the commit. */
  emit(event: DomainEvent): void;
  /** Runs after the use case and before the outbox is written; may emit and may add more steps. */
  beforeCommit(step: (tx: Tx) => Promise<void>): void;
  /**
   * Runs after all other steps, and is sent with the outbox in one flight: for what takes a lock that all writers wait
   * for. May emit; the step of a failed `attempt` stays. `alone` is the same as one that leaves with the commit: it is done
   * in place of the step where there is no other such step and a last statement can be taken.
   */
  lastly(step: (tx: Tx) => Promise<void>, alone?: LastStatement): void;
  /**
   * Takes the statement that leaves together with the commit. Null where the unit is run again because one could not, and
   * in a part of a whole: what it would do is then done at once.
   */
  readonly withCommit: ((last: LastStatement) => void) | null;
  /** Runs once the commit is confirmed; must not fail and must not be relied on, since the process may die before. */
  afterCommit(step: () => void): void;
}

interface LastStep {
  readonly take: (tx: Tx) => Promise<void>;
  readonly alone: LastStatement | undefined;
}

/** Units: retries after the first try. Source: reference reliability 5. */
const MAX_RETRIES = 3;

/**
 * The unit of work: one transaction in which rows and their events commit together or not at all.
 * Shape: START TRANSACTION, the use case's statements, one outbox insert (a second one for events that tell what the last step made), COMMIT. The whole use case is run
 * again, at most 3 times, after a deadlock or a serialization failure, so it must be free of outside effects.
 * What took long inside, as a row that somebody else held, is committed only by rights that hold still.
 * Errors: Unavailable when the database is away, no connection is free in time or it was broken off each time; InDoubt when the answer to the commit
 * was lost; what a look at rights says; a plain
 * Error for a run inside a run (outside production).
 * Source: reference reliability 2.1, 5; ADR 0020, 0050.
 */
export class Work {
  /** Told whenever the database breaks a transaction off that may be run again. */
  onBrokenOff: (why: BrokenOff) => void = () => undefined;
  private readonly listeners = new Set<() => void>();
  /** Finding a nested run costs a hook on every promise, so production does without. */
  // eslint-disable-next-line no-restricted-properties -- Node's own convention, not a setting of ours
  private readonly running = process.env['NODE_ENV'] === 'production' ? null : new AsyncLocalStorage<true>();

  constructor(
    readonly dataSource: DataSource,
    private readonly service: ServiceName,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  async run<T>(use: (tx: Tx) => Promise<T>): Promise<T> {
    const whole = currentWhole(this.dataSource);
    const unit = whole ? (): Promise<T> => whole.run(use) : (isAgain: boolean): Promise<T> => this.once(use, !isAgain);
    if (!this.running) return this.withRetries(unit);
    if (this.running.getStore()) throw new Error('a unit of work runs inside another; hand the transaction on instead');
    return this.running.run(true, () => this.withRetries(unit));
  }

  /**
   * One transaction for all that somebody waits for, whatever units of work it has: what each of them wrote and emitted
   * is committed at the end, and what one refused is undone by itself. Reads by `Database` within see what was written.
   * It is not run again as a whole. Errors: as `run`; Unavailable in place of a deadlock.
   */
  whole<T>(use: (tx: Tx, whole: Whole) => Promise<T>): Promise<T> {
    const waiter = currentWaiter();
    if (!waiter) throw new Error('nobody waits for the whole');
    return this.once((outer) => {
      const whole = new Whole(this.dataSource, outer.connection, (step) => outer.within(step));
      return awaitedBy({ ...waiter, whole }, () => use(outer, whole));
    }).catch((error: unknown) => {
      throw whyBrokenOff(error) === null ? translated(error) : slow(error);
    });
  }

  /** As `run`, in a transaction of its own also within a whole: for what must stay although the request fails. */
  apart<T>(use: (tx: Tx) => Promise<T>): Promise<T> {
    if (!currentWhole(this.dataSource)) return this.run(use);
    const { whole: _, ...waiter } = currentWaiter()!;
    return awaitedBy({ ...waiter, kind: 'holder' }, () => this.run(use));
  }

  /** Tells when a commit has left events in the outbox of this process: the relay's wake-up. */
  onEmitted(listener: () => void): void {
    this.listeners.add(listener);
  }

  private async withRetries<T>(unit: (isAgain: boolean) => Promise<T>): Promise<T> {
    let isAgain = false;
    for (let retry = 0; ;) {
      try {
        return await unit(isAgain);
      } catch (error) {
        // Once at most, and no failure.
        if (error instanceof NotAsHoped) {
          isAgain = true;
          continue;
        }
        const why = whyBrokenOff(error);
        if (why === null) throw translated(error);
        this.onBrokenOff(why);
        if (retry >= MAX_RETRIES) throw slow(error);
        await pause(Math.random() * 10 * 2 ** retry);
        retry += 1;
      }
    }
  }

  private async once<T>(use: (unit: Unit) => Promise<T>, takesLast = false): Promise<T> {
    const rights = currentWaiter()?.rights;
    const runner = this.dataSource.createQueryRunner();
    let unit: Unit | undefined;
    try {
      unit = new Unit(runner, (await runner.connect()) as SteadyClient, this.service, this.clock, takesLast);
      await runner.startTransaction();
      const begunAt = performance.now();
      const result = await use(unit);
      // Looked at before the last statements too: these hold what all writes of the service wait for.
      await rights?.lookToWrite();
      await unit.finish();
      await rights?.lookToWrite();
      // The server's clock says how long it has been since the transaction began, which was no later than it was told.
      await unit.commit(performance.now() - begunAt + patienceOf(rights));
      rights?.committed();
      this.announce(unit);
      return result;
    } catch (error) {
      // After a commit in doubt nobody is there to hear of a rollback.
      if (runner.isTransactionActive && !(error instanceof InDoubt))
        await runner.rollbackTransaction().catch(() => undefined);
      throw error;
    } finally {
      unit?.letGo();
      await runner.release();
    }
  }

  private announce(unit: Unit): void {
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

/** What is broken off again and again is no fault of the request: it may be sent again. */
function slow(cause: unknown): Unavailable {
  const unavailable = new Unavailable('database slow');
  unavailable.cause = cause;
  return unavailable;
}

/** Errors: Unavailable when it was never sent, for the connection was lost before; InDoubt when nobody knows whether it happened. */
async function commit(runner: QueryRunner): Promise<void> {
  if (runner.isReleased) throw new Unavailable('database away');
  try {
    await runner.commitTransaction();
  } catch (error) {
    throw wasRolledBack(error) ? error : new InDoubt(error);
  }
}

class Unit implements Tx {
  readonly manager: EntityManager;
  readonly withCommit: Tx['withCommit'];
  readonly afterwards: (() => void)[] = [];
  /** With the units within that came to their end, in order. */
  readonly all: Unit[] = [this];
  private readonly beforehand: ((tx: Tx) => Promise<void>)[] = [];
  private readonly last: LastStep[] = [];
  private readonly rows: OutboxRow[] = [];
  /** How many of `rows` are in the outbox. */
  private written = 0;
  private lastStatement: LastStatement | null = null;
  private tookTime = false;

  constructor(
    private readonly runner: QueryRunner,
    readonly connection: SteadyClient,
    private readonly service: ServiceName,
    private readonly clock: Clock,
    takesLast = false,
  ) {
    this.manager = runner.manager;
    this.withCommit = takesLast ? (last) => (this.lastStatement = last) : null;
  }

  get hasEmitted(): boolean {
    return this.rows.length > 0;
  }

  query<R>(sql: string, values: readonly unknown[] = []): Promise<R[]> {
    return run<R>(this.connection, { text: sql, values });
  }

  prepared<R>(statement: Prepared, values: readonly unknown[]): Promise<R[]> {
    return run<R>(this.connection, { name: statement.name, text: statement.text, values });
  }

  run<R>(statement: Statement<R>): Promise<R[]>;
  run<P extends object, R>(statement: DeclaredStatement<P, R>, params: NoInfer<P>): Promise<R[]>;
  run<P extends object, R>(statement: Statement<R> | DeclaredStatement<P, R>, params?: P): Promise<R[]> {
    return run<R>(this.connection, boundStatement(statement, params));
  }

  async attempt<T>(step: () => Promise<T>): Promise<T> {
    const [rows, beforehand, afterwards] = [this.rows.length, this.beforehand.length, this.afterwards.length];
    await this.query('savepoint attempt');
    try {
      const result = await step();
      await this.query('release savepoint attempt');
      return result;
    } catch (error) {
      // What the database says, such as a deadlock, ends the whole.
      if (!(error instanceof RookeryError)) throw error;
      await this.query('rollback to savepoint attempt');
      // Steps may have steps of their own: the name must mean the outer one again.
      await this.query('release savepoint attempt');
      this.rows.length = rows;
      this.beforehand.length = beforehand;
      this.afterwards.length = afterwards;
      throw error;
    }
  }

  /** A unit within this one, that may fail alone. Errors: those of `use`; a savepoint gives its locks back too. */
  async within<T>(use: (tx: Tx) => Promise<T>): Promise<T> {
    const unit = new Unit(this.runner, this.connection, this.service, this.clock);
    await this.query('savepoint unit');
    try {
      const result = await use(unit);
      await this.query('release savepoint unit');
      this.all.push(unit);
      this.beforeCommit(() => unit.finish());
      return result;
    } catch (error) {
      unit.letGo();
      await this.query('rollback to savepoint unit').catch(() => undefined);
      throw error;
    }
  }

  async takeTime(): Promise<void> {
    this.connection.takeTime();
    this.tookTime = true;
    await this.query('set local statement_timeout = 0');
  }

  /** The connection is as it was before. */
  letGo(): void {
    if (this.all.some(({ tookTime }) => tookTime)) this.connection.hurry();
  }

  emit(event: DomainEvent): void {
    this.rows.push(outboxRow(this.service, event, this.clock.now()));
  }

  beforeCommit(step: (tx: Tx) => Promise<void>): void {
    this.beforehand.push(step);
  }

  lastly(take: (tx: Tx) => Promise<void>, alone?: LastStatement): void {
    this.last.push({ take, alone });
  }

  afterCommit(step: () => void): void {
    this.afterwards.push(step);
  }

  async finish(): Promise<void> {
    // A step may add steps, hence no iterator over a fixed list.
    for (let step = this.beforehand.shift(); step; step = this.beforehand.shift()) await step(this);
    // What leaves with the commit takes the events along.
    if (this.leavesWithCommit()) return;
    const writing = this.writeEvents();
    writing.catch(() => undefined);
    try {
      for (let step = this.last.shift(); step; step = this.last.shift()) await step.take(this);
    } catch (error) {
      // After a failure the server refuses all that follows: what failed first says why.
      await writing;
      throw error;
    }
    await writing;
    await this.writeEvents();
  }

  /** Whether all that is still to be done is sent with the commit. */
  private leavesWithCommit(): boolean {
    const [step, ...others] = this.last;
    if (step?.alone && others.length === 0 && this.withCommit !== null && this.lastStatement === null) {
      this.lastStatement = step.alone;
      this.last.length = 0;
    }
    return this.lastStatement !== null && this.last.length === 0;
  }

  /** Errors: NotAsHoped; those of `commit`. */
  async commit(patienceMs: number): Promise<void> {
    const { lastStatement } = this;
    if (lastStatement === null || this.runner.isReleased) return commit(this.runner);
    const commits = (): Promise<void> => commit(this.runner);
    const rows = await together(
      () => this.writeEvents(),
      () => this.run(lastStatement.statement(patienceMs)),
      async () => lastStatement.follow && this.run(lastStatement.follow()),
      commits,
    );
    lastStatement.done?.(rows);
  }

  /** What was emitted since the last time. */
  private async writeEvents(): Promise<void> {
    const rows = this.rows.slice(this.written);
    this.written = this.rows.length;
    if (rows.length > 0) await writeOutbox(this, rows);
  }
}
