import { Injectable } from '@nestjs/common';
import { prepared } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { projectAccessSql } from '../audience/access-sql';

/** Somebody who takes part in an issue by what he wrote or by being named. */
export interface Participation {
  readonly issueId: number;
  readonly userId: number;
  /** The note by which he does; null: title or description. */
  readonly noteId: number | null;
}

const access = projectAccessSql('i.project_id', { user: 'u.id', isAdmin: 'u.admin', isExternal: 'u.external' });

/** An internal note makes nobody take part who may not read it: what he is told later would tell him of the note. */
const add = prepared(
  'participants_add',
  `insert into participants (noteable_type, noteable_id, user_id, project_id, note_id)
   select distinct on (i.id, p.user_id) 'Issue', i.id, p.user_id, i.project_id, p.note_id
   from unnest($1::bigint[], $2::bigint[], $3::bigint[]) as p (issue_id, user_id, note_id)
   join issues i on i.id = p.issue_id left join notes n on n.id = p.note_id
   where n.internal is not true or exists (
     select 1 from directory_users u cross join lateral ${access} a where u.id = p.user_id and a.reads_internal)
   order by i.id, p.user_id, p.note_id nulls first
   on conflict do nothing`,
);
/** Whoever wrote another note stays. */
const dropOfNotes = prepared(
  'participants_drop_of_notes',
  `delete from participants p using unnest($1::bigint[], $2::bigint[]) as gone (issue_id, note_id)
   where p.noteable_id = gone.issue_id and p.noteable_type = 'Issue' and p.note_id = gone.note_id
     and not exists (select 1 from notes n where n.noteable_id = p.noteable_id and n.noteable_type = 'Issue'
       and n.author_id = p.user_id and not n.system)`,
);
const dropOfIssues = prepared(
  'participants_drop_of_issues',
  `delete from participants where noteable_id = any($1::bigint[]) and noteable_type = 'Issue'`,
);
/** Units: rows. */
const CHUNK = 5000;
const dropOfProjects = prepared(
  'participants_drop_of_projects',
  `delete from participants where ctid = any(array(
     select ctid from participants where project_id = any($1::bigint[]) limit ${CHUNK})) returning 1`,
);

/**
 * Who takes part in an issue besides its author and assignees, kept as it happens: to find it by reading would mean
 * reading every comment of the issue for each comment. Source: reference work-tracking 8.4; ADR 0085.
 */
@Injectable()
export class Participants {
  async add(tx: Tx, participations: readonly Participation[]): Promise<void> {
    if (participations.length === 0) return;
    await tx.prepared(add, [
      participations.map((one) => one.issueId),
      participations.map((one) => one.userId),
      participations.map((one) => one.noteId),
    ]);
  }

  async dropOfNotes(tx: Tx, gone: readonly { issueId: number; noteId: number }[]): Promise<void> {
    await tx.prepared(dropOfNotes, [gone.map((one) => one.issueId), gone.map((one) => one.noteId)]);
  }

  async dropOfIssues(tx: Tx, issueIds: readonly number[]): Promise<void> {
    await tx.prepared(dropOfIssues, [issueIds]);
  }

  async dropOfProjects(tx: Tx, projectIds: readonly number[]): Promise<void> {
    while ((await tx.prepared(dropOfProjects, [projectIds])).length === CHUNK);
  }
}
