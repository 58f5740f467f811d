import { Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import type { SignedInViewer } from '@rookery/kernel';
import { COUNT_LIMIT } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import type { DeclaredStatement } from '@rookery/persistence';
import { projectAccessRowSql } from '../../base/noteables/access-sql';
import { NoteableKinds } from '../../base/noteables/noteable-kinds';
import type { AssigneesOfKind, NoteableKind } from '../../base/noteables/noteable-kinds';
import { countVisibleTodosSql } from '../todos/todos.statements';
import type { ViewerParams } from '../todos/todos.statements';

/**
 * Open work of a user. Each kind with assignees has `assigned_<table>`, each kind with reviewers
 * `review_requested_<table>`.
 */
export type UserCounts = Readonly<Record<'todos' | `${'assigned' | 'review_requested'}_${string}`, number>>;

const person = { user: ':viewer::bigint', isAdmin: ':is_admin::boolean', isExternal: ':is_external::boolean' };

/**
 * SQL columns that count open noteables of the user, as assignee and as reviewer. They may see their noteable if they may
 * see this kind in its project, so access is checked once for each project. No count goes past COUNT_LIMIT + 1.
 */
function openNoteableCountColumnsSql({ assignees, reviewers, feature, table }: NoteableKind): string[] {
  const sets = [['assigned', assignees] as const, ['review_requested', reviewers] as const];
  return sets.flatMap(([name, people]) => (people ? [openNoteableCountSql(people, feature, `${name}_${table}`)] : []));
}

function openNoteableCountSql(people: AssigneesOfKind, feature: NoteableKind['feature'], name: string): string {
  return `(select least(coalesce(sum(mine.count), 0), ${COUNT_LIMIT + 1})::integer
       from (select assigned.project_id, count(*) as count from (
           select open.project_id from ${people.openSql(person.user)} open
           limit ${COUNT_LIMIT + 1}) assigned group by assigned.project_id) mine
       join lateral ${projectAccessRowSql('mine.project_id', person)} a on a.reads_${feature}) as ${name}`;
}

/** Counts the open work of a user. Source: reference work-tracking 9.9. */
@Injectable()
export class UserCountsQueries {
  private readonly counts: DeclaredStatement<ViewerParams, UserCounts>;

  constructor(
    private readonly database: Database,
    private readonly directory: Directory,
    kinds: NoteableKinds,
  ) {
    const todos = countVisibleTodosSql(
      kinds.withAbility('todos'),
      `t.user_id = ${person.user} and t.state = 'pending'`,
    );
    const counts = [...kinds.all.flatMap(openNoteableCountColumnsSql), `${todos} as todos`];
    this.counts = statement('user_counts', () => `select ${counts.join(',\n     ')}`);
  }

  /** Counts the viewer's open work. Errors: Unavailable while the copy of the directory is too old to decide. */
  async countOpenWork(viewer: SignedInViewer): Promise<UserCounts> {
    await this.directory.requireFresh(viewer);
    const { userId, isAdmin, isExternal } = viewer;
    const values = { viewer: userId, is_admin: isAdmin, is_external: isExternal };
    const [row] = await this.database.run(this.counts, values);
    return row!;
  }
}
