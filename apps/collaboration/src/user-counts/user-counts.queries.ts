import { Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import type { SignedInViewer } from '@rookery/kernel';
import { COUNT_LIMIT } from '@rookery/kernel';
import { Database, prepared } from '@rookery/persistence';
import { projectAccessSql } from '../audience/access-sql';
import { countedTodosSql } from '../todos/todos.statements';

/** What waits for somebody. */
export interface UserCounts {
  readonly assigned_issues: number;
  readonly todos: number;
}

const person = { user: '$1::bigint', isAdmin: '$2::boolean', isExternal: '$3::boolean' };

/**
 * $1 the person, $2 administrator, $3 external. Whoever is assigned to an issue may see it wherever he may see the
 * issues of its project, so projects are judged, each once. No count goes past COUNT_LIMIT + 1.
 */
const counts = prepared(
  'user_counts',
  `select (select least(coalesce(sum(mine.count), 0), ${COUNT_LIMIT + 1})::integer
       from (select assigned.project_id, count(*) as count from (
           select i.project_id from issue_assignees s join issues i on i.id = s.issue_id and i.state = 'opened'
           where s.user_id = $1::bigint limit ${COUNT_LIMIT + 1}) assigned group by assigned.project_id) mine
       join lateral ${projectAccessSql('mine.project_id', person)} a on a.reads_issues) as assigned_issues,
     ${countedTodosSql(`t.user_id = $1::bigint and t.state = 'pending'`)} as todos`,
);

/** Source: issue identity 6; ADR 0139. */
@Injectable()
export class UserCountsQueries {
  constructor(
    private readonly database: Database,
    private readonly directory: Directory,
  ) {}

  /** Errors: Unavailable while the copy of the directory is too old to decide. */
  async of(viewer: SignedInViewer): Promise<UserCounts> {
    await this.directory.fresh(viewer);
    const [row] = await this.database.prepared<UserCounts>(counts, [viewer.userId, viewer.isAdmin, viewer.isExternal]);
    return row!;
  }
}
