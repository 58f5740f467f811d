import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from '../work/database';
import { isDatabaseAway } from '../sql/failures';
import { prepareStatement } from '../sql/prepared';
import { Work } from '../work/work';
import type { DeadLetter } from '../schema/plumbing.entities';
import type { RowOf } from '../sql/row-of';
import type { Tx } from '../work/work';

export type LetterState = DeadLetter['state'];
/** The kind of work that failed: the effect of an event, or a job. */
export type LetterKind = DeadLetter['kind'];

/** A received message with all that a retry needs. */
export interface Letter {
  readonly effect: string;
  readonly eventId: string | null;
  readonly subject: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * A job that failed at its last try. `key` distinguishes it from others of its kind, so that a scheduled job has one
 * letter however often it fails. `jobId` is the queue's own id. `body` contains its parameters as JSON.
 */
export interface JobLetter {
  readonly job: string;
  readonly key: string;
  readonly jobId: number;
  readonly body: string;
  readonly attempts: number;
}

export type LetterRow = RowOf<DeadLetter, keyof DeadLetter>;

/** Parameters for replaying dead letters of one kind. `use` retries one; `onOutcome` is called with each result. */
export interface Replay {
  readonly kind: LetterKind;
  readonly use: (tx: Tx, letter: LetterRow) => Promise<void>;
  readonly onOutcome: (outcome: ReplayedLetter) => void;
  readonly isStopping: () => boolean;
}
type ReplayedLetter = { readonly id: number; readonly failed?: unknown };

const ACTIVE = `('retrying', 'open', 'replaying')`;
const IS_ASKED = prepareStatement(
  'dead_letters_is_asked',
  `select exists (select 1 from dead_letters where state = 'replaying' and kind = $1) as is_asked`,
);

/**
 * Effects of events and jobs that failed for good. Purpose: one list for operators. Failures of an event are counted
 * here, so that replicas and restarts share the count; a job arrives when its queue has counted the last failure.
 * Source: reference reliability 2.4; ADR 0025, 0160.
 */
@Injectable()
export class DeadLetters {
  constructor(
    private readonly database: Database,
    private readonly work: Work,
  ) {}

  /** Counts one failed try. `tries` is the limit for one event. Returns the tries so far and the new state. */
  async recordFailure(
    letter: Letter,
    error: unknown,
    tries: number,
  ): Promise<{ attempts: number; state: LetterState }> {
    const [row] = await this.database.query<{ attempts: number; state: LetterState }>(
      `insert into dead_letters (effect, event_key, event_id, subject, headers, body, reason, error, state)
       values ($1, $2, $3, $4, $5, $6, 'failed', $7, case when $8::int <= 1 then 'open' else 'retrying' end)
       on conflict (effect, event_key) where state in ${ACTIVE} do update set
         attempts = dead_letters.attempts + 1, last_failed_at = now(), error = excluded.error,
         state = case when dead_letters.state = 'retrying' and dead_letters.attempts + 1 >= $8::int then 'open'
           else dead_letters.state end
       returning attempts, state`,
      [...deadLetterInsertValues(letter), storableErrorText(error), tries],
    );
    return row!;
  }

  /** Keeps a message that cannot be read; a retry would fail again. */
  async buryLetter(letter: Letter, reason: 'undecodable' | 'unknown_version', problem: string): Promise<void> {
    await this.database.query(
      `insert into dead_letters (effect, event_key, event_id, subject, headers, body, reason, error, state)
       values ($1, $2, $3, $4, $5, $6, $7, $8, 'open')
       on conflict (effect, event_key) where state in ${ACTIVE} do update set
         attempts = dead_letters.attempts + 1, last_failed_at = now(), error = excluded.error`,
      [...deadLetterInsertValues(letter), reason, storableErrorText(problem)],
    );
  }

  /** Keeps a job that failed for the last time. */
  async buryJob(tx: Tx, letter: JobLetter, error: unknown): Promise<void> {
    await tx.query(
      `insert into dead_letters (kind, effect, event_key, subject, headers, body, reason, error, state, attempts)
       values ('job', $1, $2, $1, $3, $4, 'failed', $5, 'open', $6)
       on conflict (effect, event_key) where state in ${ACTIVE} do update set
         attempts = dead_letters.attempts + excluded.attempts, last_failed_at = now(), error = excluded.error,
         headers = excluded.headers, body = excluded.body`,
      [
        letter.job,
        letter.key,
        JSON.stringify({ job_id: String(letter.jobId) }),
        letter.body,
        storableErrorText(error),
        letter.attempts,
      ],
    );
  }

  /** Deletes the counted failures of events that succeeded at last. */
  async removeRecovered(tx: Tx, effect: string, eventIds: readonly string[]): Promise<void> {
    await tx.query(
      `delete from dead_letters where effect = $1 and event_key = any($2::text[]) and state = 'retrying'`,
      [effect, eventIds],
    );
  }

  async listLetters(filter: { readonly effect?: string; readonly state?: string }): Promise<LetterRow[]> {
    return this.database.query<LetterRow>(
      `select * from dead_letters where ($1::text is null or effect = $1) and ($2::text is null or state = $2)
       order by id limit 1000`,
      [filter.effect ?? null, filter.state ?? null],
    );
  }

  async findLetter(id: number): Promise<LetterRow | null> {
    const [row] = await this.database.query<LetterRow>('select * from dead_letters where id = $1', [id]);
    return row ?? null;
  }

  /**
   * Marks open and retried letters for a retry by the workers: all of them, or those of `ids` and `effect`. Returns the
   * ids.
   */
  async requestReplay(which: {
    readonly ids?: readonly number[];
    readonly effect?: string;
    readonly by: string;
    readonly reason: string | null;
  }): Promise<number[]> {
    const rows = await this.database.query<{ id: number }>(
      `update dead_letters set state = 'replaying', settled_by = $3, settled_reason = $4
       where state in ('open', 'retrying') and ($1::bigint[] is null or id = any($1)) and ($2::text is null or effect = $2)
       returning id`,
      [which.ids ?? null, which.effect ?? null, which.by, which.reason],
    );
    return rows.map((row) => row.id).sort((left, right) => left - right);
  }

  /** Discards a letter for good; the row stays as a record of the operator and the reason. */
  async discardLetter(id: number, by: string, reason: string): Promise<boolean> {
    const rows = await this.database.query(
      `update dead_letters set state = 'discarded', settled_at = now(), settled_by = $2, settled_reason = $3
       where id = $1 and state in ${ACTIVE} returning id`,
      [id, by, reason],
    );
    return rows.length > 0;
  }

  /**
   * Replays the letters that an operator asked for, each in one transaction with its own state change. A letter that
   * fails again is open again.
   * Errors: those of a database that is away: the letter did not cause them and stays marked.
   */
  async replayLetters(o: Replay): Promise<void> {
    if (!(await this.isReplayRequested(o.kind))) return;
    let after = 0;
    while (!o.isStopping()) {
      const tried = await this.replayNextLetter(o, after);
      if (!tried) return;
      after = tried.id;
      if ('failed' in tried) {
        if (isDatabaseAway(tried.failed)) throw tried.failed;
        await this.reopenLetter(tried.id, tried.failed);
      }
      o.onOutcome(tried);
    }
  }

  /** One statement, which is the whole cost while no replay is requested. */
  private async isReplayRequested(kind: LetterKind): Promise<boolean> {
    const [row] = await this.database.prepared<{ is_asked: boolean }>(IS_ASKED, [kind]);
    return row!.is_asked;
  }

  private async replayNextLetter(o: Replay, after: number): Promise<ReplayedLetter | null> {
    let claimed: LetterRow | null = null;
    try {
      await this.work.run(async (tx) => {
        claimed = await this.lockNextLetter(tx, o.kind, after);
        if (!claimed) return;
        await o.use(tx, claimed);
        await tx.query(`update dead_letters set state = 'replayed', settled_at = now() where id = $1`, [claimed.id]);
      });
    } catch (error) {
      // Assigned inside the closure, which the compiler does not follow.
      const letter = claimed as LetterRow | null;
      if (!letter) throw error;
      return { id: letter.id, failed: error };
    }
    return claimed && { id: (claimed as LetterRow).id };
  }

  /** Takes the next letter to replay, locked until the transaction ends; null when there is none above `after`. */
  private async lockNextLetter(tx: Tx, kind: LetterKind, after: number): Promise<LetterRow | null> {
    const [row] = await tx.query<LetterRow>(
      `select * from dead_letters where state = 'replaying' and kind = $2 and id > $1
       order by id limit 1 for update skip locked`,
      [after, kind],
    );
    return row ?? null;
  }

  /** Opens a letter again after its replay failed. */
  private async reopenLetter(id: number, error: unknown): Promise<void> {
    await this.database.query(
      `update dead_letters set state = 'open', attempts = attempts + 1, last_failed_at = now(), error = $2
       where id = $1 and state = 'replaying'`,
      [id, storableErrorText(error)],
    );
  }
}

function deadLetterInsertValues(letter: Letter): unknown[] {
  const key = letter.eventId ?? createHash('sha256').update(`${letter.subject}\n${letter.body}`).digest('hex');
  // PostgreSQL stores no NUL; a body with one is unreadable anyway.
  const body = letter.body.replaceAll('\0', '\uFFFD');
  return [letter.effect, key, letter.eventId, letter.subject, JSON.stringify(letter.headers), body];
}

function storableErrorText(error: unknown): string {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return text.replaceAll('\0', '\uFFFD').slice(0, 4000);
}
