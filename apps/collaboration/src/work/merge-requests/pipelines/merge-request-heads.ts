import { Injectable } from '@nestjs/common';
import type { MergeRequestHeadAnswer } from '@rookery/contracts';
import { readCommits, resolveCommit } from '@rookery/git';
import type { ObjectId } from '@rookery/git';
import { Database, statement } from '@rookery/persistence';
import { formatCommitTimeUtc } from '../../../code/repositories/commit-times';
import { convertGitFailures } from '../../../code/repositories/git-failures';
import { ProjectRepositories } from '../../../code/repositories/project-repositories';

interface MergeRequestHeadRow {
  readonly head_sha: ObjectId | null;
  readonly source_project_id: number;
  readonly source_branch: string;
  readonly runs: boolean;
}
const head = statement<{ project: number; iid: number }, MergeRequestHeadRow>(
  'merge_requests_head',
  `select i.head_sha, coalesce(i.source_project_id, i.project_id) as source_project_id, i.source_branch,
     i.state = 'opened' and i.commits_count > 0 as runs
   from merge_requests i join directory_projects p on p.id = i.project_id and p.merge_requests_access_level <> 'disabled'
   where i.project_id = :project::bigint and i.iid = :iid::bigint`,
);

/** Commits on which pipelines of merge requests run. Source: reference repositories 8.16. */
@Injectable()
export class MergeRequestHeads {
  constructor(
    private readonly database: Database,
    private readonly repositories: ProjectRepositories,
  ) {}

  /** Finds the head of a merge request. Errors: Unavailable. */
  async findHead(project: number, iid: number): Promise<MergeRequestHeadAnswer> {
    const [row] = await this.database.run(head, { project, iid });
    if (!row) return { is_found: false, head: null };
    return { is_found: true, head: row.runs ? await convertGitFailures(() => this.readHead(row)) : null };
  }

  /** Returns null if the source branch does not exist any more. */
  private async readHead(row: MergeRequestHeadRow): Promise<MergeRequestHeadAnswer['head']> {
    const repository = await this.repositories.findRepository(row.source_project_id);
    if (repository === null || row.head_sha === null) return null;
    if ((await resolveCommit(repository, `refs/heads/${row.source_branch}`)) === null) return null;
    const [commit] = await readCommits(repository, [row.head_sha]);
    return commit ? { sha: commit.id, committed_at: formatCommitTimeUtc(commit.committer) } : null;
  }
}
