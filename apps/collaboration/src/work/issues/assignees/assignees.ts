import { Injectable } from '@nestjs/common';
import type { DirectoryUserRow } from '@rookery/directory';
import { Directory, isNobodys } from '@rookery/directory';
import type { SignedInViewer } from '@rookery/kernel';
import type { RowOf, Tx } from '@rookery/persistence';
import { prepared } from '@rookery/persistence';
import { aboveOf } from '../../../base/noteables/reader';
import type { ParentFacts } from '../../../base/noteables/reader';
import type { IssueAssignee } from '../issue.entity';

export interface AssigneeChange {
  readonly added: readonly DirectoryUserRow[];
  readonly removed: readonly DirectoryUserRow[];
}

const assigned = prepared(
  'issue_assignees_of',
  `select user_id from issue_assignees where issue_id = $1::bigint order by position`,
);
const write = prepared(
  'issue_assignees_write',
  `insert into issue_assignees (issue_id, user_id, position)
   select $1::bigint, chosen.user_id, chosen.place from unnest($2::bigint[]) with ordinality as chosen (user_id, place)
   on conflict (issue_id, user_id) do update set position = excluded.position`,
);
const clear = prepared(
  'issue_assignees_clear',
  `delete from issue_assignees where issue_id = $1::bigint and user_id <> all($2::bigint[])`,
);

/** The people who work on an issue. Source: reference work-tracking 9.1. */
@Injectable()
export class Assignees {
  constructor(private readonly directory: Directory) {}

  /**
   * Of the wished people those who are there and known to the viewer, act and may read the project, each once, in the
   * order of the wish. Inside a transaction it must be handed on: waiting for a second connection with one in hand can
   * exhaust the pool.
   */
  async eligible(
    viewer: SignedInViewer,
    project: ParentFacts,
    wished: readonly number[],
    tx?: Tx,
  ): Promise<DirectoryUserRow[]> {
    const ids = [...new Set(wished)];
    if (ids.length === 0) return [];
    const [users, levels] = await Promise.all([
      this.directory.users(ids, tx),
      this.directory.levelsInProject(project.id, ids, tx),
    ]);
    const able = ids.flatMap((id) => {
      const user = users.get(id);
      return user && mayWork(viewer, user, project, levels.get(id) ?? 0) ? [user] : [];
    });
    // Whoever reads the project is shown those who belong to the groups above as its members.
    return this.directory.knownTo(viewer, able, tx, aboveOf(project));
  }

  async of(tx: Tx, issueId: number): Promise<number[]> {
    return (await tx.prepared<RowOf<IssueAssignee, 'userId'>>(assigned, [issueId])).map((row) => row.user_id);
  }

  /** Makes these the assignees, and nobody else. */
  async assign(
    tx: Tx,
    issueId: number,
    before: readonly number[],
    users: readonly DirectoryUserRow[],
  ): Promise<AssigneeChange> {
    const ids = users.map((user) => user.id);
    const gone = before.filter((id) => !ids.includes(id));
    if (gone.length > 0) await tx.prepared(clear, [issueId, ids]);
    if (ids.length > 0) await tx.prepared(write, [issueId, ids]);
    const removed = await this.directory.users(gone, tx);
    return {
      added: users.filter((user) => !before.includes(user.id)),
      removed: gone.flatMap((id) => removed.get(id) ?? []),
    };
  }
}

/** That somebody is an administrator is told to administrators and to themselves: to others they are whoever they are there. */
function mayWork(viewer: SignedInViewer, user: DirectoryUserRow, project: ParentFacts, level: number): boolean {
  if (user.state !== 'active' || isNobodys(user)) return false;
  if (level > 0 || project.visibility === 'public') return true;
  if (user.admin && (viewer.isAdmin || viewer.userId === user.id)) return true;
  return project.visibility === 'internal' && !user.external;
}
