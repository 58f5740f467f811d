import { Injectable } from '@nestjs/common';
import { prepared } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { projectAccessSql, readerOfAccess } from '../audience/access-sql';
import { visibleIssueSql } from '../noteables/noteable-kinds';
import type { TodoAction } from './todo-actions';

/** Somebody who may get an item. */
export interface TodoCandidate {
  readonly eventId: string;
  readonly userId: number;
  readonly authorId: number;
  readonly action: TodoAction;
  readonly issueId: number;
  readonly noteId: number | null;
  /** ISO 8601: when the cause happened. */
  readonly at: string;
}

/** Somebody did something with a target, which settles his own items there. Shape: `at` ISO 8601. */
export interface Settlement {
  readonly userId: number;
  readonly projectId: number;
  readonly issueId: number;
  readonly at: string;
}

const person = { user: 'u.id', isAdmin: 'u.admin', isExternal: 'u.external' };
const access = projectAccessSql('i.project_id', person);
const mayRead = `a.reads_issues and ${visibleIssueSql('i', readerOfAccess('a', 'u.id'))}
  and (c.note_id is null or not n.internal or a.reads_internal)`;

/** Comments settle, and those changes of an issue whose events do (`settles` in the consumer). */
const settlesSql = `(not later.system or later.body in ('closed', 'reopened', 'changed the description')
  or later.body like 'changed title %'
  or (later.body like '%assigned %' and later.body <> 'assigned to @' || u.username))`;

/**
 * Mentions are for those who may read; assignments are not judged here (reading the list is). Whoever wrote on the
 * target or changed it since has dealt with it: events of different kinds may arrive in another order. For the same
 * reason a text names a person once (a unique index): the effect of its creation may read what it was edited to.
 */
const raise = prepared(
  'todos_raise',
  `insert into todos (user_id, author_id, action, project_id, target_type, target_id, note_id, source_event_id, state,
     created_at, updated_at)
   select u.id, c.author_id, c.action, i.project_id, 'Issue', i.id, c.note_id, c.event_id,
     case when exists (select 1 from notes later where later.noteable_id = i.id and later.noteable_type = 'Issue'
       and later.created_at > c.at and later.author_id = u.id and ${settlesSql}) then 'done' else 'pending' end, c.at, c.at
   from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::timestamptz[])
     with ordinality as c (event_id, user_id, author_id, action, issue_id, note_id, at, place)
   join issues i on i.id = c.issue_id
   join directory_users u on u.id = c.user_id and u.state = 'active' and u.kind = 'human'
   left join notes n on n.id = c.note_id
   left join lateral ${access} a on c.action <> 'assigned'
   where (c.note_id is null or n.id is not null) and (c.action = 'assigned' or (${mayRead}))
   order by c.place
   on conflict do nothing`,
);

const settle = prepared(
  'todos_settle',
  `update todos t set state = 'done', updated_at = now()
   from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::timestamptz[]) as s (user_id, project_id, issue_id, at)
   where t.project_id = s.project_id and t.target_id = s.issue_id and t.target_type = 'Issue'
     and t.user_id = s.user_id and t.state = 'pending' and t.created_at <= s.at`,
);
const dropOfIssues = prepared(
  'todos_drop_of_issues',
  `delete from todos t using unnest($1::bigint[], $2::bigint[]) as gone (project_id, issue_id)
   where t.project_id = gone.project_id and t.target_id = gone.issue_id and t.target_type = 'Issue'`,
);
const dropOfNotes = prepared(
  'todos_drop_of_notes',
  `delete from todos t using unnest($1::bigint[], $2::bigint[], $3::bigint[]) as gone (project_id, issue_id, note_id)
   where t.project_id = gone.project_id and t.target_id = gone.issue_id and t.target_type = 'Issue'
     and t.note_id = gone.note_id`,
);
/** Units: rows. */
const CHUNK = 5000;
const dropOfProjects = prepared(
  'todos_drop_of_projects',
  `delete from todos where id in (select id from todos where project_id = any($1::bigint[]) limit ${CHUNK}) returning 1`,
);

/** Writes items and settles them, many at once. Source: reference work-tracking 6.3, 6.4; ADR 0080. */
@Injectable()
export class RaiseTodos {
  async raise(tx: Tx, candidates: readonly TodoCandidate[]): Promise<void> {
    if (candidates.length === 0) return;
    const column = <K extends keyof TodoCandidate>(key: K): TodoCandidate[K][] => candidates.map((one) => one[key]);
    await tx.prepared(raise, [
      column('eventId'),
      column('userId'),
      column('authorId'),
      column('action'),
      column('issueId'),
      column('noteId'),
      column('at'),
    ]);
  }

  async settle(tx: Tx, settlements: readonly Settlement[]): Promise<void> {
    if (settlements.length === 0) return;
    const column = <K extends keyof Settlement>(key: K): Settlement[K][] => settlements.map((one) => one[key]);
    await tx.prepared(settle, [column('userId'), column('projectId'), column('issueId'), column('at')]);
  }

  async dropOfIssues(tx: Tx, gone: readonly { projectId: number; issueId: number }[]): Promise<void> {
    await tx.prepared(dropOfIssues, [gone.map((one) => one.projectId), gone.map((one) => one.issueId)]);
  }

  async dropOfNotes(tx: Tx, gone: readonly { projectId: number; issueId: number; noteId: number }[]): Promise<void> {
    await tx.prepared(dropOfNotes, [
      gone.map((one) => one.projectId),
      gone.map((one) => one.issueId),
      gone.map((one) => one.noteId),
    ]);
  }

  async dropOfProjects(tx: Tx, projectIds: readonly number[]): Promise<void> {
    while ((await tx.prepared(dropOfProjects, [projectIds])).length === CHUNK);
  }
}
