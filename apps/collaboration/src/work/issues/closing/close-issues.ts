import { issueClosed } from '@rookery/contracts';
import type { NoteableType } from '@rookery/contracts';
import { statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { projectAccessRowSql } from '../../../base/noteables/access-sql';
import { lockNoteables } from '../../../base/noteables/noteable-locks';
import { canReadNoteableRowSql } from '../../../base/noteables/noteable-kinds';
import { recordStateEvent } from '../../../base/resource-events/states-and-weights';
import { writeSystemNotes } from '../../../talk/notes/system-notes';
import { issueEventData } from '../issue-events';
import { Issue } from '../issue.entity';
import { issueKind } from '../issue.kind';

/** Merge request or commit that closes issues. */
export interface ClosingCause {
  readonly actorId: number;
  /** Project of the merge request or commit. */
  readonly projectId: number;
  readonly referenced?: { readonly type: NoteableType; readonly id: number };
  /** Returns the text of the system note. `place` is null for an issue of the same project. */
  describe(place: { readonly path: string; readonly isPublic: boolean } | null): string;
}

interface ClosableIssueRow {
  readonly id: number;
  readonly at: Date;
  readonly is_here: boolean;
  readonly path: string;
  readonly is_public: boolean;
}

const PERSON = { user: 'u.id', isAdmin: 'u.admin', isExternal: 'u.external' };
/**
 * Boolean SQL: does a reference in a merge close the issue `i` for a person? It is open, its project `p` closes referenced
 * issues, and the person may close it as planner, author or assignee, like `issuePolicy.mayChangeState`. `a` is the access
 * of the person to the project, and `user` the SQL for the person's id.
 */
export function isClosedByReferenceSql(user: string): string {
  return `i.state = 'opened' and not p.archived
     and coalesce((p.merge_settings -> 'autoclose_referenced_issues')::boolean, true)
     and ${canReadNoteableRowSql(issueKind, 'a', user)}
     and (a.reads_confidential or i.author_id = ${user}
       or exists (select 1 from issue_assignees s where s.issue_id = i.id and s.user_id = ${user}))`;
}

const closable = statement<{ ids: readonly number[]; actor: number; project: number }, ClosableIssueRow>(
  'issues_closable',
  `select i.id, now() as at, i.project_id = own.id as is_here, home.full_path || '/' || own.path as path,
     own.visibility = 'public' and coalesce(own.repository_access_level, 'enabled') = 'enabled' as is_public
   from issues i join directory_users u on u.id = :actor::bigint
   join directory_projects p on p.id = i.project_id
   join directory_projects own on own.id = :project::bigint join directory_namespaces home on home.id = own.namespace_id
   cross join lateral ${projectAccessRowSql('i.project_id', PERSON)} a
   where i.id = any(:ids::bigint[]) and ${isClosedByReferenceSql(PERSON.user)}
   order by i.id`,
);

/**
 * Closes those of the issues that are open and that the user may close. Returns their ids. Source: reference repositories
 * 8.17.
 */
export async function closeIssues(tx: Tx, ids: readonly number[], cause: ClosingCause): Promise<number[]> {
  if (ids.length === 0) return [];
  await lockNoteables(tx, issueKind, ids);
  const { actorId, projectId: project, referenced } = cause;
  const rows = await tx.run(closable, { ids, actor: actorId, project });
  for (const { id, at, is_here: isHere, path, is_public: isPublic } of rows) {
    const issue = await tx.manager.findOneByOrFail(Issue, { id });
    await tx.manager.update(Issue, id, { state: 'closed', closedAt: at, closedById: actorId, updatedAt: at });
    const { projectId } = issue;
    await recordStateEvent(tx, { type: issueKind.type, id, projectId }, 'closed', { actorId, at });
    const bodies = [cause.describe(isHere ? null : { path, isPublic })];
    const note = { noteableId: id, projectId, actorId, bodies, at };
    await writeSystemNotes(tx, issueKind, referenced ? { ...note, referenced } : note);
    const data = { ...issueEventData(issue), closed_at: at.toISOString() };
    tx.emit(issueClosed.of({ aggregateId: id, actorId, data }));
  }
  return rows.map(({ id }) => id);
}
