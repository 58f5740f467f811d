import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { isAncestor, listRefs } from '@rookery/git';
import type { ObjectId, Repository } from '@rookery/git';
import { Database, statement } from '@rookery/persistence';
import { findCommit } from '../../../code/commits/commit-history';
import { ProjectRepositories } from '../../../code/repositories/project-repositories';

interface CandidateMergeRequestRow {
  readonly iid: number;
  readonly base_sha: ObjectId | null;
  /** The commit is the head, the merge commit or the squashed commit. */
  readonly is_named: boolean;
}

/** Merge requests whose versions contain the commit, and those that were merged by it. The newest come first. */
const candidates = statement<{ project: number; iids: readonly number[]; sha: string }, CandidateMergeRequestRow>(
  'merge_requests_of_commit',
  `select i.iid, i.base_sha, is_named from merge_requests i
     cross join lateral (select :sha::text in (i.head_sha, i.merge_commit_sha, i.squash_commit_sha) as is_named) named
   where i.project_id = :project::bigint and (is_named or i.iid = any(:iids::bigint[]))
   order by i.iid desc`,
);
/** Bases that are compared with the commit, each by a process of git. */
const MAX_BASES = 200;
const HEAD_REF = /^refs\/merge-requests\/(\d+)\/head$/;

/** Finds the merge requests of commits. Source: reference repositories 4.2. */
@Injectable()
export class CommitMergeRequestsQueries {
  constructor(
    private readonly repositories: ProjectRepositories,
    private readonly database: Database,
  ) {}

  /**
   * Returns the numbers of the merge requests that contain a commit in their latest version, or whose head, merge commit
   * or squashed commit it is. Bounds: of those whose history holds it, the 200 newest bases are examined.
   * Errors: NotFound for an unknown commit.
   */
  findMergeRequestIds(project: ProjectScope, ref: string): Promise<number[]> {
    return this.repositories.useRepository(project, async (repository) => {
      const { id } = await findCommit(repository, ref);
      const heads = await listRefs(repository, { under: ['refs/merge-requests'], contains: id });
      const iids = heads.flatMap(({ name }) => HEAD_REF.exec(name)?.[1] ?? []).map(Number);
      const rows = await this.database.run(candidates, { project: project.id, iids, sha: id });
      const isInBase = await createBaseContainsCommitPredicate(repository, id, rows);
      return rows.filter((row) => row.is_named || !isInBase(row.base_sha)).map(({ iid }) => iid);
    });
  }
}

/** Returns whether a base has the commit. A base beyond the limit counts as one that has it. */
async function createBaseContainsCommitPredicate(
  repository: Repository,
  commit: ObjectId,
  rows: readonly CandidateMergeRequestRow[],
): Promise<(base: ObjectId | null) => boolean> {
  const bases = new Set(rows.flatMap((row) => (row.is_named || row.base_sha === null ? [] : [row.base_sha])));
  const without = new Set<ObjectId>();
  for (const base of [...bases].slice(0, MAX_BASES))
    if (!(await isAncestor(repository, commit, base))) without.add(base);
  return (base) => base !== null && !without.has(base);
}
