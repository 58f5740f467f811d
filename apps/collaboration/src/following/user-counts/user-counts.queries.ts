import { Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import type { SignedInViewer } from '@rookery/kernel';
import { COUNT_LIMIT } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import type { DeclaredStatement } from '@rookery/persistence';
import { projectAccessSql } from '../../base/noteables/access-sql';
import { NoteableKinds } from '../../base/noteables/noteable-kinds';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';
import { countedTodosSql } from '../todos/todos.statements';
import type { ViewerParams } from '../todos/todos.statements';

/** What waits for somebody. Shape: `assigned_<table>` for each kind that people work on. */
export type UserCounts = Readonly<Record<'todos' | `assigned_${string}`, number>>;

const person = { user: ':viewer::bigint', isAdmin: ':is_admin::boolean', isExternal: ':is_external::boolean' };

/**
 * Whoever is assigned to a thing may see it wherever they may see such
 * things of its project, so projects are judged, each once. No count goes past COUNT_LIMIT + 1.
 */
function assignedSql({ assignees, feature, table }: NoteableKind): string[] {
  if (!assignees) return [];
  return [
    `(select least(coalesce(sum(mine.count), 0), ${COUNT_LIMIT + 1})::integer
       from (select assigned.project_id, count(*) as count from (
           select open.project_id from ${assignees.openSql(person.user)} open
           limit ${COUNT_LIMIT + 1}) assigned group by assigned.project_id) mine
       join lateral ${projectAccessSql('mine.project_id', person)} a on a.reads_${feature}) as assigned_${table}`,
  ];
}

/** Source: reference work-tracking 9.9. */
@Injectable()
export class UserCountsQueries {
  private readonly counts: DeclaredStatement<ViewerParams, UserCounts>;

  constructor(
    private readonly database: Database,
    private readonly directory: Directory,
    kinds: NoteableKinds,
  ) {
    const todos = countedTodosSql(kinds.able('todos'), `t.user_id = ${person.user} and t.state = 'pending'`);
    const counts = [...kinds.all.flatMap(assignedSql), `${todos} as todos`];
    this.counts = statement('user_counts', () => `select ${counts.join(',\n     ')}`);
  }

  /** Errors: Unavailable while the copy of the directory is too old to decide. */
  async of(viewer: SignedInViewer): Promise<UserCounts> {
    await this.directory.fresh(viewer);
    const { userId, isAdmin, isExternal } = viewer;
    const values = { viewer: userId, is_admin: isAdmin, is_external: isExternal };
    const [row] = await this.database.run(this.counts, values);
    return row!;
  }
}
