import { Injectable } from '@nestjs/common';
import { prepareStatement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import {
  parentAccessSql,
  groupedByKind,
  groupIdSql,
  NoteableKinds,
  cachePerNoteableKind,
  projectIdSql,
  canReadNoteableRowSql,
} from '../../base/noteables/noteable-kinds';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';
import type { TodoAction } from './todo-actions';

/** Target of a to-do. */
interface TodoTarget {
  readonly targetType: string;
  readonly targetId: number;
}

/** A to-do to raise if its user may have it. */
export interface TodoCandidate extends TodoTarget {
  readonly eventId: string;
  readonly userId: number;
  readonly authorId: number;
  readonly action: TodoAction;
  readonly noteId: number | null;
  /** Time of the cause, ISO 8601. */
  readonly at: string;
}

/** An action of a user on a target, which settles the user's own to-dos there. `at` is in ISO 8601. */
export interface Settlement extends TodoTarget {
  readonly userId: number;
  readonly projectId: number | null;
  /** Restricts it to to-dos that notes of this thread raised; null: all to-dos of the target. */
  readonly threadId: number | null;
  /** Restricts it to to-dos with this reason; null: any reason. */
  readonly action: TodoAction | null;
  readonly at: string;
}

/** A deleted target or, with a `noteId`, a deleted note on it; its to-dos are deleted. */
export interface DeletedTarget extends TodoTarget {
  /** Null for noteables of groups. */
  readonly projectId: number | null;
}

const person = { user: 'u.id', isAdmin: 'u.admin', isExternal: 'u.external' };

/**
 * Boolean SQL: whether a later note settles a to-do, which is then inserted as done: events may come out of order.
 * Comments settle it. System notes settle it if the event of the same change does (`TodosConsumer`). A reply
 * settles only to-dos of its thread. `later` is the later note, `n` the note that raised the to-do.
 */
const settlesSql = `case when not later.system then not later.is_reply or later.thread_id = coalesce(n.thread_id, n.id)
  else (later.body in ('closed', 'reopened', 'merged', 'approved this merge request', 'changed the description')
  or later.body like 'changed title %' or later.body like 'added % commit%'
  or (later.body like '%assigned %' and later.body <> 'assigned to @' || u.username)) end`;

/** Boolean SQL: whether the user changed labels or the milestone later. These changes have their own rows, not system notes. */
function changedLabelsOrMilestoneLaterSql({ type, abilities }: NoteableKind): string {
  const planned = (['labels', 'milestones'] as const).filter((ability) => abilities.includes(ability));
  const tables = { labels: 'resource_label_events', milestones: 'resource_milestone_events' };
  return planned
    .map(
      (ability) => ` or exists (select 1 from ${tables[ability]} later where later.noteable_id = i.id
         and later.noteable_type = '${type}' and later.created_at > c.at and later.user_id = u.id)`,
    )
    .join('');
}

/** Boolean SQL: whether the user awarded an emoji on the target later. */
const hasUserAwardedEmojiLaterSql = ({ type }: NoteableKind): string =>
  `exists (select 1 from award_emoji w where w.user_id = u.id and w.noteable_id = i.id and w.noteable_type = '${type}'
         and w.created_at > c.at)`;
/**
 * Inserts to-dos. Mentions require read access; assignments and requests for reviews do not, since access is checked when
 * the list is read. A to-do is done from the beginning if its user commented on the target or changed it later: events of
 * different kinds may arrive in another order. For the same reason a unique index lets a text mention a user once: the
 * effect of its creation may read an edited text. A comment that an owner dated in the future settles nothing.
 */
const insertTodos = cachePerNoteableKind((kind) =>
  prepareStatement(
    `${kind.table}_todos_raise`,
    `insert into todos (user_id, author_id, action, project_id, group_id, target_type, target_id, note_id, source_event_id,
       state, created_at, updated_at)
     select u.id, c.author_id, c.action, ${projectIdSql(kind)}, ${groupIdSql(kind)}, '${kind.type}', i.id, c.note_id, c.event_id,
       case when exists (select 1 from notes later where later.noteable_id = i.id and later.noteable_type = '${kind.type}'
         and later.created_at > c.at and later.created_at <= clock_timestamp() and later.author_id = u.id and ${settlesSql})${changedLabelsOrMilestoneLaterSql(kind)} or ${hasUserAwardedEmojiLaterSql(kind)} then 'done' else 'pending' end, c.at, c.at
     from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::timestamptz[])
       with ordinality as c (event_id, user_id, author_id, action, target_id, note_id, at, place)
     join ${kind.table} i on i.id = c.target_id
     join directory_users u on u.id = c.user_id and u.state = 'active' and u.kind = 'human'
     left join notes n on n.id = c.note_id
     left join lateral ${parentAccessSql(kind, person)} a on c.action not in ('assigned', 'review_requested')
     where (c.note_id is null or n.id is not null) and (c.action in ('assigned', 'review_requested') or (${canReadNoteableRowSql(kind, 'a', 'u.id')}
       and (c.note_id is null or not n.internal or a.reads_internal)))
     order by c.place
     on conflict do nothing`,
  ),
);

/**
 * Prepares a statement twice, for to-dos of projects and for to-dos of groups, so that each uses its index. `sql` gets
 * a function that returns the condition on the project, with the alias of the values.
 */
export const prepareTodoStatementsByParent = (name: string, sql: (inParent: (values: string) => string) => string) => ({
  project: prepareStatement(
    name,
    sql((values) => `t.project_id = ${values}.project_id`),
  ),
  group: prepareStatement(
    `${name}_in_groups`,
    sql(() => 't.project_id is null'),
  ),
});

const completeTodos = prepareTodoStatementsByParent(
  'todos_settle',
  (inParent) => `update todos t set state = 'done', updated_at = now()
   from unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::timestamptz[])
     as s (user_id, project_id, target_type, target_id, thread_id, action, at)
   where ${inParent('s')} and t.target_id = s.target_id and t.target_type = s.target_type
     and t.user_id = s.user_id and t.state = 'pending' and t.created_at <= s.at
     and (s.action is null or t.action = s.action)
     and (s.thread_id is null
       or exists (select 1 from notes n where n.id = t.note_id and coalesce(n.thread_id, n.id) = s.thread_id))`,
);
const settleForAll = prepareStatement(
  'todos_settle_for_all',
  `update todos t set state = 'done', updated_at = now()
   from unnest($1::bigint[], $2::text[], $3::bigint[], $4::timestamptz[]) as s (project_id, target_type, target_id, at)
   where t.project_id = s.project_id and t.target_id = s.target_id and t.target_type = s.target_type
     and t.action = $5 and t.state = 'pending' and (t.created_at <= s.at or exists (
       select 1 from merge_requests i where t.target_type = 'MergeRequest' and i.id = t.target_id and i.state <> 'opened'))`,
);
const dropOfNotes = prepareTodoStatementsByParent(
  'todos_drop_of_notes',
  (inParent) => `delete from todos t
   using unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[]) as gone (project_id, target_type, target_id, note_id)
   where ${inParent('gone')} and t.target_id = gone.target_id and t.target_type = gone.target_type
     and t.note_id = gone.note_id`,
);
/** Raises, settles and deletes to-dos in batches. Source: reference work-tracking 6.3, 6.4; ADR 0080. */
@Injectable()
export class TodoRecorder {
  constructor(private readonly kinds: NoteableKinds) {}

  async raiseTodos(tx: Tx, all: readonly TodoCandidate[]): Promise<void> {
    for (const [kind, candidates] of groupedByKind(this.kinds, all, (one) => one.targetType)) {
      const column = columnReader(candidates);
      await tx.prepared(insertTodos(kind), [
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

  async settleTodos(tx: Tx, settlements: readonly Settlement[]): Promise<void> {
    for (const [parent, ones] of splitByParent(settlements)) {
      const column = columnReader(ones);
      const where = [column('projectId'), column('targetType'), column('targetId'), column('threadId')];
      await tx.prepared(completeTodos[parent], [column('userId'), ...where, column('action'), column('at')]);
    }
  }

  /** Settles the to-dos of all users with one reason. All targets belong to projects. */
  async settleForAll(
    tx: Tx,
    action: TodoAction,
    targets: readonly (DeletedTarget & { readonly at: string })[],
  ): Promise<void> {
    const column = columnReader(targets);
    const values = [column('projectId'), column('targetType'), column('targetId'), column('at')];
    if (targets.length > 0) await tx.prepared(settleForAll, [...values, action]);
  }

  async dropOfNotes(tx: Tx, gone: readonly (DeletedTarget & { readonly noteId: number })[]): Promise<void> {
    for (const [parent, ones] of splitByParent(gone)) {
      const column = columnReader(ones);
      const targets = [column('projectId'), column('targetType'), column('targetId')];
      await tx.prepared(dropOfNotes[parent], [...targets, column('noteId')]);
    }
  }
}

/** Splits rows into those of projects and those of groups; an empty part is left out. */
export function splitByParent<R extends { readonly projectId: number | null }>(
  rows: readonly R[],
): (readonly ['project' | 'group', readonly R[]])[] {
  const inGroups = rows.filter(({ projectId }) => projectId === null);
  const inProjects = rows.filter(({ projectId }) => projectId !== null);
  const parts = [['project', inProjects] as const, ['group', inGroups] as const];
  return parts.filter(([, ones]) => ones.length > 0);
}

/** Returns a function that reads one property of all rows, for `unnest`. */
export function columnReader<R>(rows: readonly R[]): <K extends keyof R>(key: K) => R[K][] {
  return (key) => rows.map((row) => row[key]);
}
