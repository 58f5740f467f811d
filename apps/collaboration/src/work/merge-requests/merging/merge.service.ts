import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { isAncestor, NO_OBJECT, readRef } from '@rookery/git';
import type { Repository } from '@rookery/git';
import { MethodNotAllowed, Unavailable, Unprocessable } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import { ProjectRepositories } from '../../../code/repositories/project-repositories';
import { RefChanges } from '../../../code/repositories/ref-updates/ref-changes';
import type { MergeIntent } from '../merge-request.entity';
import { branchRef } from '../versions/measure-version';
import { EarlierMergeAttempts } from './earlier-attempts';
import { writeMergeCommits } from './merge-commits';
import { MergeChecks, REFUSED, createStaleHeadConflict } from './merge-checks';
import { MergeRecipes } from './merge-recipes';
import type { PlannedMerge } from './merge-recipes';
import { mergeRulesOf } from './merge-rules';
import { BranchMergeQueue } from './branch-merge-queue';
import type { MergeWishes } from './merge-wishes';
import { toRequestBranches, failMerge, intendMerge, mergingRow } from './merging-rows';
import type { MergingRow } from './merging-rows';
import { StackedMergeRequests } from './stacked-merge-requests';

/** Attempts against merges of other processes. */
const ATTEMPTS = 5;
/** Stored as `merge_error`. Source: reference repositories 8.10. */
const SQUASH_FORBIDDEN = 'This project does not allow squashing commits when merge requests are accepted.';

/**
 * Merges merge requests. The commits of a merge are stored as an intent before the target branch moves, and the
 * settlement of that move marks the request as merged: after a crash between the two, a job does so.
 * Source: reference repositories 8.9.
 */
@Injectable()
export class MergeService {
  constructor(
    private readonly database: Database,
    private readonly repositories: ProjectRepositories,
    private readonly changes: RefChanges,
    private readonly recipes: MergeRecipes,
    private readonly checks: MergeChecks,
    private readonly turns: BranchMergeQueue,
    private readonly earlier: EarlierMergeAttempts,
    private readonly stacked: StackedMergeRequests,
  ) {}

  /**
   * Merges, or stores that the request is to be merged as soon as all checks pass. Errors, in this order: NotFound,
   * Forbidden, Unauthorized, MethodNotAllowed, Unprocessable, Conflict.
   */
  async merge(viewer: SignedInViewer, project: ProjectScope, iid: number, wishes: MergeWishes): Promise<void> {
    const row = await this.checks.findMergeable(viewer, project, iid, wishes);
    if (row === null) return;
    if (wishes.squash && mergeRulesOf(project).squash === 'never') {
      await this.database.run(failMerge, { id: row.id, why: SQUASH_FORBIDDEN });
      throw new Unprocessable(REFUSED);
    }
    await this.turns.takeTurn(project.id, row.target_branch, () =>
      this.repositories.useRepository(project, (repository) =>
        this.mergeWithRetries(repository, viewer, project, { row, wishes }),
      ),
    );
    const [merged] = await this.database.run(mergingRow, { project: project.id, iid });
    // The target branch has moved, and a job settles that; until then the answer would be untrue.
    if (merged?.state !== 'merged') throw new Unavailable('answer lost');
    const isRemoved = await this.removeSourceBranch(viewer, project, merged, wishes);
    if (isRemoved && merged.source_project_id === project.id)
      await this.stacked.retarget(viewer, project, merged.source_branch, merged.target_branch);
  }

  private async mergeWithRetries(
    repository: Repository,
    viewer: SignedInViewer,
    project: ProjectScope,
    merge: { readonly row: MergingRow; readonly wishes: MergeWishes },
  ): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.changes.changeRefs(repository, {
        project,
        viewer,
        isMerge: true,
        write: async (view) => {
          const tips = await this.readExistingTips(view, merge.row);
          const isMoved = await this.earlier.settleAttempt(repository, merge.row, tips.target);
          return isMoved ? [] : [await this.writeMergeAndIntent(view, viewer, project, { ...merge, ...tips })];
        },
      });
      if (outcome.moved) return;
      const isRace = outcome.why === 'changed' || outcome.why === 'locked';
      if (isRace && attempt < ATTEMPTS) continue;
      await this.database.run(failMerge, { id: merge.row.id, why: outcome.refusal });
      throw new Unprocessable(REFUSED);
    }
  }

  /** Errors: Unprocessable for a missing branch. */
  private async readExistingTips(view: Repository, row: MergingRow): Promise<Pick<PlannedMerge, 'source' | 'target'>> {
    const { source, target } = await this.checks.permissions.sources.readTips(view, toRequestBranches(row));
    if (source === null || target === null) throw new Unprocessable(REFUSED);
    return { source, target };
  }

  private async writeMergeAndIntent(
    view: Repository,
    viewer: SignedInViewer,
    project: ProjectScope,
    { row, wishes, source, target }: Omit<PlannedMerge, 'viewer' | 'project'>,
  ) {
    if (source !== row.head_sha) throw createStaleHeadConflict(source);
    if (mergeRulesOf(project).method !== 'merge' && !(await isAncestor(view, target, source)))
      throw new Unprocessable(REFUSED);
    const { isSquash, ...recipe } = await this.recipes.buildRecipe(view, {
      viewer,
      project,
      row,
      wishes,
      source,
      target,
    });
    const commits = await writeMergeCommits(view, recipe);
    if (commits === null) throw new Unprocessable(REFUSED);
    const squashCommitSha = commits.squashCommitSha ?? (isSquash ? source : null);
    const intent: MergeIntent = {
      ...{ ...commits, squashCommitSha, head: source, userId: viewer.userId },
      ...(wishes.isExecutedByAutoMerge && { isAutomatic: true }),
    };
    const intended = await this.database.run(intendMerge, {
      ...{ id: row.id, head: source, intent: JSON.stringify(intent) },
      ...{ removes: wishes.removesSource, squashes: wishes.squash },
    });
    if (intended.length === 0) throw new MethodNotAllowed();
    return { ref: branchRef(row.target_branch), oldId: target, newId: commits.tip };
  }

  /** Removes the source branch if that is wanted, and if it still is at the merged commit. Returns whether it did. */
  private async removeSourceBranch(
    viewer: SignedInViewer,
    project: ProjectScope,
    row: MergingRow,
    { removesSource }: MergeWishes,
  ): Promise<boolean> {
    const { source_branch: branch, head_sha: head } = row;
    if (!(removesSource ?? row.force_remove_source_branch ?? false) || head === null) return false;
    const { permissions } = this.checks;
    const source = await permissions.sources.findProject(viewer, project, row.source_project_id);
    if (!source || branch === source.defaultBranch) return false;
    if (!(await permissions.mayRemove(viewer, source, branch))) return false;
    return this.repositories.useRepository(source, async (repository) => {
      const ref = branchRef(branch);
      if ((await readRef(repository, ref)) !== head) return false;
      const update = { ref, oldId: head, newId: NO_OBJECT };
      // A refusal leaves the branch: the merge itself is done.
      const change = { project: source, viewer, write: () => Promise.resolve([update]) };
      return (await this.changes.changeRefs(repository, change)).moved;
    });
  }
}
