import { Inject, Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { GitError, inQuarantine, isAncestor, mergeCommitsToTree } from '@rookery/git';
import type { ObjectId, Repository } from '@rookery/git';
import { Database, statement } from '@rookery/persistence';
import { LOGGER } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import { ProjectRepositories } from '../../../code/repositories/project-repositories';
import type { MergeRequestState, StoredMergeStatus } from '../merge-request.entity';
import { SourceBranches } from '../versions/source-branches';
import { MergeCheckResultStore } from './check-results';
import { toRequestBranches } from './merging-rows';

interface MergeRequestToCheck {
  readonly id: number;
  readonly state: MergeRequestState;
  readonly merge_status: StoredMergeStatus;
  readonly project_id: number;
  readonly source_project_id: number | null;
  readonly source_branch: string;
  readonly target_branch: string;
  readonly commits_count: number;
}

const findRowToCheck = statement<{ project: number; iid: number }, MergeRequestToCheck>(
  'merge_requests_to_check',
  `select id, state, merge_status, project_id, source_project_id, source_branch, target_branch, commits_count from merge_requests
   where project_id = :project::bigint and iid = :iid::bigint`,
);
/** Open merge requests of a project without a result, the newest first. */
const unchecked = statement<{ project: number }, MergeRequestToCheck>(
  'merge_requests_unchecked',
  `select id, state, merge_status, project_id, source_project_id, source_branch, target_branch, commits_count from merge_requests
   where project_id = :project::bigint and state = 'opened' and merge_status in ('unchecked', 'cannot_be_merged_recheck')
   order by id desc limit 50`,
);

/** Time for the checks of one job. Units: milliseconds. */
const ALL_CHECKS_MS = 30_000;
/** Time that a request waits for the check; a slower one goes on, and stores its result. Units: milliseconds. */
const PATIENCE_MS = 2000;

/** Checks with git whether merge requests can be merged, and stores the result. Source: reference repositories 8.3. */
@Injectable()
export class Mergeability {
  constructor(
    private readonly repositories: ProjectRepositories,
    private readonly database: Database,
    private readonly sources: SourceBranches,
    private readonly results: MergeCheckResultStore,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Checks an open merge request unless its result is known. A failed or slow check leaves it unchecked. */
  async refresh(project: ProjectScope, iid: number): Promise<void> {
    const [row] = await this.database.run(findRowToCheck, { project: project.id, iid });
    if (!row || row.state !== 'opened' || !isUnchecked(row.merge_status)) return;
    const checked = this.repositories.useRepository(project, (repository) =>
      this.checkRowOrLogFailure(repository, row),
    );
    await waitAtMost(PATIENCE_MS, checked.catch(this.createFailureLogger(row)));
  }

  /**
   * Checks the newest merge requests of a project that are unchecked. Bounds: 50, and half a minute; others are checked when
   * they are read.
   */
  async refreshAll(projectId: number, signal: AbortSignal): Promise<void> {
    const rows = await this.database.run(unchecked, { project: projectId });
    const repository = rows.length === 0 ? null : await this.repositories.findRepository(projectId);
    if (!repository) return;
    const until = Date.now() + ALL_CHECKS_MS;
    for (const row of rows) {
      signal.throwIfAborted();
      if (Date.now() > until) return;
      await this.checkRowOrLogFailure(repository, row);
    }
  }

  private async checkRowOrLogFailure(repository: Repository, row: MergeRequestToCheck): Promise<void> {
    await this.checkMergeability(repository, row).catch(this.createFailureLogger(row));
  }

  private createFailureLogger({ id }: MergeRequestToCheck): (error: unknown) => void {
    return (error) => this.logger.warn({ err: error, mergeRequestId: id }, 'a merge check failed');
  }

  private async checkMergeability(repository: Repository, row: MergeRequestToCheck): Promise<void> {
    const { source, target } = await this.sources.readTips(repository, toRequestBranches(row), { copies: false });
    // The settlement of the push to the fork copies its commits; until then nothing is known.
    if (source === null && row.source_project_id !== row.project_id) return;
    const isComparable = source !== null && target !== null && row.commits_count > 0;
    const isMergeable = isComparable && (await mergesCleanly(repository, target, source));
    await this.results.storeResult({
      ...{ id: row.id, source, target },
      status: isMergeable ? 'can_be_merged' : 'cannot_be_merged',
      behind: isMergeable && !(await isAncestor(repository, target, source)),
      conflicts: isComparable ? !isMergeable : null,
    });
  }
}

/** Whether git merges two commits without conflicts. The merged objects are dropped. */
async function mergesCleanly(repository: Repository, ours: ObjectId, theirs: ObjectId): Promise<boolean> {
  try {
    const { conflicts } = await inQuarantine(repository, ({ repository: view }) =>
      mergeCommitsToTree(view, ours, theirs),
    );
    return conflicts.length === 0;
  } catch (error) {
    if (error instanceof GitError && error.reason === 'conflict') return false;
    throw error;
  }
}

function isUnchecked(status: StoredMergeStatus): boolean {
  return status === 'unchecked' || status === 'cannot_be_merged_recheck';
}

async function waitAtMost(ms: number, step: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((done) => (timer = setTimeout(done, ms)));
  await Promise.race([step, timeout]).finally(() => clearTimeout(timer));
}
