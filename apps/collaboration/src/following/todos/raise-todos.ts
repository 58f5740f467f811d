import { Injectable } from '@nestjs/common';
import { prepared } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import {
  accessSql,
  groupedByKind,
  groupIdSql,
  NoteableKinds,
  perKind,
  projectIdSql,
  readableSql,
} from '../../base/noteables/noteable-kinds';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';
import type { TodoAction } from './todo-actions';

/** What an item points at. */
export interface TodoTarget {
  readonly targetType: string;
  readonly targetId: number;
}

/** Somebody who may get an item. */
export interface TodoCandidate extends TodoTarget {
  readonly eventId: string;
  readonly userId: number;
  readonly authorId: number;
  readonly action: TodoAction;
  readonly noteId: number | null;
  /** ISO 8601: when the cause happened. */
  readonly at: string;
}

/** Somebody did something with a target, which settles their own items there. Shape: `at` ISO 8601. */
export interface Settlement extends TodoTarget {
  readonly userId: number;
  readonly projectId: number | null;
  /** Only items that notes of this thread raised; null: all of the target. */
  readonly threadId: number | null;
  readonly at: string;
}

/** What is gone, with the items that pointed at it. Shape: without `noteId`, all that is below the target. */
export interface GoneTarget extends TodoTarget {
  /** Null for things of groups. */
  readonly projectId: number | null;
}

const person = { user: 'u.id', isAdmin: 'u.admin', isExternal: 'u.external' };

/**
 * Comments settle, and those changes of a thing whose events do (`settles` in the consumer). An answer in a thread
 * settles what that thread raised. Shape: `later` is what was written since, `n` the note that raised the item.
 */
const settlesSql = `case when not later.system then not later.is_reply or later.thread_id = coalesce(n.thread_id, n.id)
  else (later.body in ('closed', 'reopened', 'changed the description')
  or later.body like 'changed title %'
  or (later.body like '%assigned %' and later.body <> 'assigned to @' || u.username)) end`;

/** Labels are told of by rows of their own, not by system notes. */
function relabelledSql({ type, abilities }: NoteableKind): string {
  if (!abilities.includes('labels')) return '';
  return ` or exists (select 1 from resource_label_events later where later.noteable_id = i.id
         and later.noteable_type = '${type}' and later.created_at > c.at and later.user_id = u.id)`;
}

/**
 * Mentions are for those who may read; assignments are not judged here (reading the list is). Whoever wrote on the
 * target or changed it since has dealt with it: events of different kinds may arrive in another order. For the same
 * reason a text names a person once (a unique index): the effect of its creation may read what it was edited to.
 */
const awardedSql = ({ type }: NoteableKind): string =>
  `exists (select 1 from award_emoji w where w.user_id = u.id and w.noteable_id = i.id and w.noteable_type = '${type}'
         and w.created_at > c.at)`;
const raise = perKind((kind) =>
  prepared(
    `${kind.table}_todos_raise`,
    `insert into todos (user_id, author_id, action, project_id, group_id, target_type, target_id, note_id, source_event_id,
       state, created_at, updated_at)
     select u.id, c.author_id, c.action, ${projectIdSql(kind)}, ${groupIdSql(kind)}, '${kind.type}', i.id, c.note_id, c.event_id,
       case when exists (select 1 from notes later where later.noteable_id = i.id and later.noteable_type = '${kind.type}'
         and later.created_at > c.at and later.author_id = u.id and ${settlesSql})${relabelledSql(kind)} or ${awardedSql(kind)} then 'done' else 'pending' end, c.at, c.at
     from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::timestamptz[])
       with ordinality as c (event_id, user_id, author_id, action, target_id, note_id, at, place)
     join ${kind.table} i on i.id = c.target_id
     join directory_users u on u.id = c.user_id and u.state = 'active' and u.kind = 'human'
     left join notes n on n.id = c.note_id
     left join lateral ${accessSql(kind, person)} a on c.action <> 'assigned'
     where (c.note_id is null or n.id is not null) and (c.action = 'assigned' or (${readableSql(kind, 'a', 'u.id')}
       and (c.note_id is null or not n.internal or a.reads_internal)))
     order by c.place
     on conflict do nothing`,
  ),
);

/** Two statements for one: an index finds what lies in a project, and what lies in none. Shape: `named` are its values. */
export const byPlace = (name: string, sql: (inPlace: (named: string) => string) => string) => ({
  project: prepared(
    name,
    sql((named) => `t.project_id = ${named}.project_id`),
  ),
  group: prepared(
    `${name}_in_groups`,
    sql(() => 't.project_id is null'),
  ),
});

const settle = byPlace(
  'todos_settle',
  (inPlace) => `update todos t set state = 'done', updated_at = now()
   from unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::timestamptz[])
     as s (user_id, project_id, target_type, target_id, thread_id, at)
   where ${inPlace('s')} and t.target_id = s.target_id and t.target_type = s.target_type
     and t.user_id = s.user_id and t.state = 'pending' and t.created_at <= s.at
     and (s.thread_id is null
       or exists (select 1 from notes n where n.id = t.note_id and coalesce(n.thread_id, n.id) = s.thread_id))`,
);
const dropOfNotes = byPlace(
  'todos_drop_of_notes',
  (inPlace) => `delete from todos t
   using unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[]) as gone (project_id, target_type, target_id, note_id)
   where ${inPlace('gone')} and t.target_id = gone.target_id and t.target_type = gone.target_type
     and t.note_id = gone.note_id`,
);
/** Writes items and settles them, many at once. Source: reference work-tracking 6.3, 6.4; ADR 0080. */
@Injectable()
export class RaiseTodos {
  constructor(private readonly kinds: NoteableKinds) {}

  async raise(tx: Tx, all: readonly TodoCandidate[]): Promise<void> {
    for (const [kind, candidates] of groupedByKind(this.kinds, all, (one) => one.targetType)) {
      const column = columnsOf(candidates);
      await tx.prepared(raise(kind), [
        column('eventId'),
        column('userId'),
        column('authorId'),
        column('action'),
        column('targetId'),
        column('noteId'),
        column('at'),
      ]);
    }
  }

  async settle(tx: Tx, settlements: readonly Settlement[]): Promise<void> {
    for (const [place, ones] of inPlaces(settlements)) {
      const column = columnsOf(ones);
      const where = [column('projectId'), column('targetType'), column('targetId'), column('threadId')];
      await tx.prepared(settle[place], [column('userId'), ...where, column('at')]);
    }
  }

  async dropOfNotes(tx: Tx, gone: readonly (GoneTarget & { readonly noteId: number })[]): Promise<void> {
    for (const [place, ones] of inPlaces(gone)) {
      const column = columnsOf(ones);
      const targets = [column('projectId'), column('targetType'), column('targetId')];
      await tx.prepared(dropOfNotes[place], [...targets, column('noteId')]);
    }
  }
}

/** Rows of projects and rows of groups, without an empty part. */
export function inPlaces<R extends { readonly projectId: number | null }>(
  rows: readonly R[],
): (readonly ['project' | 'group', readonly R[]])[] {
  const inGroups = rows.filter(({ projectId }) => projectId === null);
  const inProjects = rows.filter(({ projectId }) => projectId !== null);
  const places = [['project', inProjects] as const, ['group', inGroups] as const];
  return places.filter(([, ones]) => ones.length > 0);
}

/** Reads one property of all rows, for `unnest`. */
export function columnsOf<R>(rows: readonly R[]): <K extends keyof R>(key: K) => R[K][] {
  return (key) => rows.map((row) => row[key]);
}
