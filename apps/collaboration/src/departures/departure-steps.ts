import { Injectable } from '@nestjs/common';
import { prepared } from '@rookery/persistence';
import type { Prepared, Tx } from '@rookery/persistence';
import { DropWritings } from './drop-writings';

/** Somebody who is gone, and who gets what he wrote; null with `hard_delete`. */
export interface Departure {
  readonly user_id: number;
  readonly ghost_user_id: number | null;
  readonly hard_delete: boolean;
}

/** Units: rows that one statement changes at most. */
const CHUNK = 1000;

/** Rows of a person, found by an index. An array, not a sub-select: that may be answered by reading the whole table. */
const chunkOf = (table: string, key: string, where: string): string =>
  `${key} = any(array(select ${key} from ${table} where ${where} limit ${CHUNK} for no key update))`;
function handOver(table: string, column: string): Prepared {
  return prepared(
    `departures_hand_over_${table}_${column}`,
    `update ${table} set ${column} = $2::bigint where ${chunkOf(table, 'id', `${column} = $1::bigint`)} returning 1`,
  );
}
function drop(table: string, column: string, key = 'id'): Prepared {
  return prepared(
    `departures_drop_${table}_${column}`,
    `delete from ${table} where ${chunkOf(table, key, `${column} = $1::bigint`)} returning 1`,
  );
}

const todos = ['pending', 'done'].map((state) =>
  prepared(
    `departures_drop_todos_${state}`,
    `delete from todos where ${chunkOf('todos', 'id', `user_id = $1::bigint and state = '${state}'`)} returning 1`,
  ),
);
/** His, however he went: nobody else has a use for it. */
const OWN: readonly Prepared[] = [
  ...todos,
  drop('activity_events', 'author_id'),
  drop('participants', 'user_id', 'ctid'),
  drop('mails', 'recipient_id'),
  drop('account_mails', 'recipient_id'),
  drop('notification_settings', 'user_id', 'ctid'),
  drop('mail_allowances', 'recipient_id', 'recipient_id'),
  drop('note_creations', 'user_id', 'user_id'),
  drop('issue_assignees', 'user_id', 'ctid'),
];
const closings = handOver('issues', 'closed_by_id');
/** Only what waits still tells of him. */
const messages = prepared(
  'departures_hand_over_mails',
  `update mails set actor_id = $2::bigint where ${chunkOf('mails', 'id', `actor_id = $1::bigint and state = 'queued'`)}
   returning 1`,
);
const WRITINGS: readonly Prepared[] = [handOver('issues', 'author_id'), handOver('notes', 'author_id')];
const raised = handOver('todos', 'author_id');
const dropRaised = drop('todos', 'author_id');

/** One pass over every table that names people. Source: reference identity-and-import 5; ADR 0138. */
@Injectable()
export class DepartureSteps {
  constructor(private readonly writings: DropWritings) {}

  /** Does the next part. True when nothing was left. */
  async next(tx: Tx, { user_id: userId, ghost_user_id: heirId, hard_delete: isHard }: Departure): Promise<boolean> {
    for (const statement of OWN) if (await isFull(tx, statement, [userId])) return false;
    if (await isFull(tx, closings, [userId, heirId])) return false;
    if (isHard) return !(await isFull(tx, dropRaised, [userId])) && (await this.writings.next(tx, userId));
    for (const statement of [...WRITINGS, raised, messages])
      if (await isFull(tx, statement, [userId, heirId])) return false;
    return true;
  }
}

/** Whether there may be more rows than were changed. */
async function isFull(tx: Tx, statement: Prepared, values: readonly unknown[]): Promise<boolean> {
  return (await tx.prepared(statement, values)).length === CHUNK;
}
