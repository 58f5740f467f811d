import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { isValidBranchOrTagName } from '@rookery/git';
import type { Repository } from '@rookery/git';
import { Invalid, Unprocessable } from '@rookery/kernel';
import type { SignedInViewer, Viewer } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import { ProjectRepositories } from '../../../code/repositories/project-repositories';
import type { MergeRequestUpdate } from '../merge-request-change';
import type { MergeRequest } from '../merge-request.entity';
import type { NewMergeRequest } from '../new-merge-request';
import { SourceBranchSharingPolicy } from './branch-sharing';
import { measureDiffVersion } from './measure-version';
import type { BranchTips, MeasuredVersion } from './measure-version';
import { SourceBranches } from './source-branches';

/** Names of the two branches of a merge request. */
export type BranchPair = Pick<MergeRequest, 'sourceProjectId' | 'sourceBranch' | 'targetBranch'>;

/** Branches of an update, read before its transaction. */
export interface PreparedBranches extends BranchPair {
  /** The branches that the merge request had then. */
  readonly before: BranchPair;
  readonly isRetargeted: boolean;
  /** Null if a branch is missing. */
  readonly version: MeasuredVersion | null;
}

/** An update in a given transaction. `resolve` adds fields, but no labels and milestone, once the row is locked. */
export interface DeferredUpdate {
  readonly update: MergeRequestUpdate;
  readonly branches: PreparedBranches | null;
  readonly resolve?: (mergeRequest: MergeRequest) => Promise<MergeRequestUpdate>;
}

const pairOf = statement<{ project: number; iid: number }, BranchPair & Pick<MergeRequest, 'state'>>(
  'merge_requests_branches',
  `select state, source_project_id as "sourceProjectId", source_branch as "sourceBranch", target_branch as "targetBranch"
   from merge_requests where project_id = :project::bigint and iid = :iid::bigint`,
);

/** Checks and measures the branches of merge requests. Source: reference repositories 8.4. */
@Injectable()
export class MergeRequestBranches {
  constructor(
    private readonly repositories: ProjectRepositories,
    private readonly database: Database,
    private readonly sources: SourceBranches,
    private readonly sharing: SourceBranchSharingPolicy,
  ) {}

  /** Runs a step with the repository of a project. Errors: Unavailable, TooLarge; those of the step. */
  useRepository<T>(project: ProjectScope, step: (repository: Repository) => Promise<T>): Promise<T> {
    return this.repositories.useRepository(project, step);
  }

  /**
   * Measures a pair of branches, of which the target is in the repository. Errors: Invalid for a name that no branch can
   * have, and for a missing branch; Unprocessable if they are the same.
   */
  async measurePair(
    repository: Repository,
    project: Pick<ProjectScope, 'id'>,
    pair: BranchPair,
    { copies = true } = {},
  ): Promise<MeasuredVersion> {
    assertValidBranchPair(project, pair);
    const { source, target } = await this.sources.readTips(repository, { ...pair, projectId: project.id }, { copies });
    if (source === null) throw new Invalid({ source_branch: ['does not exist'] });
    if (target === null) throw new Invalid({ target_branch: ['does not exist'] });
    return measureDiffVersion(repository, { source, target });
  }

  /**
   * Reads the branches that an update needs. Commits that a fork got while its merge request was not open are shown
   * only by a viewer who can read them in the fork; for others the branch counts as missing. Returns null if it needs
   * none. Errors: those of `measurePair`.
   */
  async prepareUpdate(
    viewer: Viewer,
    project: ProjectScope,
    iid: number,
    { targetBranch, stateEvent }: MergeRequestUpdate,
  ): Promise<PreparedBranches | null> {
    if (targetBranch === undefined && stateEvent !== 'reopen') return null;
    const found = await this.findBranchPair(project, iid);
    if (!found) return null;
    const { state, ...before } = found;
    const copies = state === 'opened' || (await this.sources.mayReadSource(viewer, project, before.sourceProjectId));
    const isRetargeted = targetBranch !== undefined && targetBranch !== before.targetBranch;
    const pair = { ...before, targetBranch: targetBranch ?? before.targetBranch };
    const version = await this.useRepository(project, async (repository) => {
      if (isRetargeted) return this.measurePair(repository, project, pair, { copies });
      const { source, target } = await this.sources.readTips(
        repository,
        { ...pair, projectId: project.id },
        { copies },
      );
      return source === null || target === null ? null : measureDiffVersion(repository, { source, target });
    });
    return { ...pair, before, isRetargeted, version };
  }

  /** Removes the wish to share the source branch from a new merge request if the viewer may not share it. */
  async permittedNew(viewer: SignedInViewer, target: ProjectScope, input: NewMergeRequest): Promise<NewMergeRequest> {
    if (!input.allowCollaboration || (await this.sharing.mayShare(viewer, target, input))) return input;
    return { ...input, allowCollaboration: false };
  }

  /** Removes the wish to share the source branch from an update, as `permittedNew` does. */
  async permittedUpdate(
    viewer: SignedInViewer,
    target: ProjectScope,
    iid: number,
    update: MergeRequestUpdate,
  ): Promise<MergeRequestUpdate> {
    if (update.allowCollaboration !== true) return update;
    const pair = await this.findBranchPair(target, iid);
    if (pair && (await this.sharing.mayShare(viewer, target, pair))) return update;
    return { ...update, allowCollaboration: undefined };
  }

  /** Reads the tips of a merge request as far as the target has them. Returns null if it does not exist. */
  async findTips(repository: Repository, project: Pick<ProjectScope, 'id'>, iid: number): Promise<BranchTips | null> {
    const pair = await this.findBranchPair(project, iid);
    return pair && this.sources.readTips(repository, { ...pair, projectId: project.id }, { copies: false });
  }

  private async findBranchPair(project: Pick<ProjectScope, 'id'>, iid: number) {
    const [row] = await this.database.run(pairOf, { project: project.id, iid });
    return row ?? null;
  }
}

function assertValidBranchPair(
  { id }: Pick<ProjectScope, 'id'>,
  { sourceProjectId, sourceBranch, targetBranch }: BranchPair,
): void {
  if (!isValidBranchOrTagName(sourceBranch)) throw new Invalid({ source_branch: ['is invalid'] });
  if (!isValidBranchOrTagName(targetBranch)) throw new Invalid({ target_branch: ['is invalid'] });
  if (sourceProjectId === id && sourceBranch === targetBranch)
    throw new Unprocessable(["You can't use same project/branch for source and target"]);
}
