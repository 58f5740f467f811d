import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import type { JsMsg } from 'nats';

export type LetterState = 'retrying' | 'open' | 'replaying' | 'replayed' | 'discarded';

/** A message as it came, enough to try it again. */
export interface Letter {
  readonly effect: string;
  readonly eventId: string | null;
  readonly subject: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function letterOf(effect: string, message: JsMsg, eventId: string | null): Letter {
  const names = message.headers?.keys() ?? [];
  return {
    effect,
    eventId,
    subject: message.subject,
    headers: Object.fromEntries(names.map((name) => [name, message.headers?.get(name) ?? ''])),
    body: message.string(),
  };
}

export interface LetterRow {
  readonly id: number;
  readonly effect: string;
  readonly event_id: string | null;
  readonly subject: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly state: LetterState;
  readonly reason: 'failed' | 'undecodable' | 'unknown_version';
  readonly error: string;
  readonly attempts: number;
  readonly first_failed_at: Date;
  readonly last_failed_at: Date;
  readonly settled_at: Date | null;
  readonly settled_by: string | null;
  readonly settled_reason: string | null;
}

const ACTIVE = `('retrying', 'open', 'replaying')`;

/**
 * Events whose effect fails. Purpose: tries are counted in the database, so that replicas and restarts share the
 * count; after the last one the row stays for an operator.
 * Source: reliability-and-security 2.4; ADR 0025.
 */
@Injectable()
export class DeadLetters {
  constructor(private readonly database: Database) {}

  /** Counts one failed try. Shape: `tries` are all that an event gets; answers how many it had and what it is now. */
  async failed(letter: Letter, error: unknown, tries: number): Promise<{ attempts: number; state: LetterState }> {
    const [row] = await this.database.query<{ attempts: number; state: LetterState }>(
      `insert into dead_letters (effect, event_key, event_id, subject, headers, body, reason, error, state)
       values ($1, $2, $3, $4, $5, $6, 'failed', $7, case when $8::int <= 1 then 'open' else 'retrying' end)
       on conflict (effect, event_key) where state in ${ACTIVE} do update set
         attempts = dead_letters.attempts + 1, last_failed_at = now(), error = excluded.error,
         state = case when dead_letters.state = 'retrying' and dead_letters.attempts + 1 >= $8::int then 'open'
           else dead_letters.state end
       returning attempts, state`,
      [...valuesOf(letter), textOf(error), tries],
    );
    return row!;
  }

  /** Keeps a message that cannot be read; trying again would change nothing. */
  async bury(letter: Letter, reason: 'undecodable' | 'unknown_version', problem: string): Promise<void> {
    await this.database.query(
      `insert into dead_letters (effect, event_key, event_id, subject, headers, body, reason, error, state)
       values ($1, $2, $3, $4, $5, $6, $7, $8, 'open')
       on conflict (effect, event_key) where state in ${ACTIVE} do update set
         attempts = dead_letters.attempts + 1, last_failed_at = now(), error = excluded.error`,
      [...valuesOf(letter), reason, textOf(problem)],
    );
  }

  /** Forgets the counted tries of events that went well at last. */
  async recovered(tx: Tx, effect: string, eventIds: readonly string[]): Promise<void> {
    await tx.query(
      `delete from dead_letters where effect = $1 and event_key = any($2::text[]) and state = 'retrying'`,
      [effect, eventIds],
    );
  }

  async list(filter: { readonly effect?: string; readonly state?: string }): Promise<LetterRow[]> {
    return this.database.query<LetterRow>(
      `select * from dead_letters where ($1::text is null or effect = $1) and ($2::text is null or state = $2)
       order by id limit 1000`,
      [filter.effect ?? null, filter.state ?? null],
    );
  }

  async find(id: number): Promise<LetterRow | null> {
    const [row] = await this.database.query<LetterRow>('select * from dead_letters where id = $1', [id]);
    return row ?? null;
  }

  /**
   * Asks the workers to try again. Shape: without ids, all open ones (of an effect). Answers the ids.
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

  /** Gives up on one for good; the row stays as the record of who and why. */
  async discard(id: number, by: string, reason: string): Promise<boolean> {
    const rows = await this.database.query(
      `update dead_letters set state = 'discarded', settled_at = now(), settled_by = $2, settled_reason = $3
       where id = $1 and state in ${ACTIVE} returning id`,
      [id, by, reason],
    );
    return rows.length > 0;
  }

  /** Takes the next one to replay, locked until the transaction ends; null when there is none above `after`. */
  async claim(tx: Tx, after: number): Promise<LetterRow | null> {
    const [row] = await tx.query<LetterRow>(
      `select * from dead_letters where state = 'replaying' and id > $1 order by id limit 1 for update skip locked`,
      [after],
    );
    return row ?? null;
  }

  async replayed(tx: Tx, id: number): Promise<void> {
    await tx.query(`update dead_letters set state = 'replayed', settled_at = now() where id = $1`, [id]);
  }

  /** A replay failed: back to the operator. */
  async reopen(id: number, error: unknown): Promise<void> {
    await this.database.query(
      `update dead_letters set state = 'open', attempts = attempts + 1, last_failed_at = now(), error = $2
       where id = $1 and state = 'replaying'`,
      [id, textOf(error)],
    );
  }
}

function valuesOf(letter: Letter): unknown[] {
  const key = letter.eventId ?? createHash('sha256').update(`${letter.subject}\n${letter.body}`).digest('hex');
  // PostgreSQL stores no NUL; a body with one is unreadable anyway.
  const body = letter.body.replaceAll('\0', '\uFFFD');
  return [letter.effect, key, letter.eventId, letter.subject, JSON.stringify(letter.headers), body];
}

function textOf(error: unknown): string {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return text.replaceAll('\0', '\uFFFD').slice(0, 4000);
}
