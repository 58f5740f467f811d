import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { countCommits, isAncestor, listCommitIds, readRef } from '@rookery/git';
import type { ObjectId, RefUpdate, Repository } from '@rookery/git';
import { Conflict, Forbidden, NotFound, Refused } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import { requireNoteableReader } from '../../../base/noteables/reader';
import { CommitIdentities } from '../../../code/repositories/commit-identities';
import { writeHiddenRef } from '../../../code/repositories/hidden-refs';
import { ProjectRepositories } from '../../../code/repositories/project-repositories';
import { RefChanges } from '../../../code/repositories/ref-updates/ref-changes';
import { mergeRequestKind } from '../merge-request.kind';
import { branchRef } from '../versions/measure-version';
import { mergeRequestMergeRef } from '../versions/merge-request-versions';
import { copyCommit } from '../versions/source-branches';
import { writeMergeCommits, writeRebasedCommits } from './merge-commits';
import { MergePermissions } from './merge-permissions';
import { toRequestBranches, failMerge, mergingRow } from './merging-rows';
import type { MergingRow } from './merging-rows';

const MAX_COMMITS = 500;
/** Most own commits of a branch that are compared with those of the other. git reads the changes of each of them. */
const MAX_COMPARED = 5000;
const FAILED = 'Rebase failed: Rebase locally, resolve all conflicts, then push the branch.';

/** Rebases source branches, and writes trial merges to the hidden ref of a merge request. Source: reference repositories 8.9. */
@Injectable()
export class RebaseService {
  constructor(
    private readonly database: Database,
    private readonly repositories: ProjectRepositories,
    private readonly changes: RefChanges,
    private readonly identities: CommitIdentities,
    private readonly permissions: MergePermissions,
  ) {}

  /**
   * Rebases the source branch onto the target. A failure is stored as `merge_error`. With `skipsPipelines`, the push
   * starts no pipeline. Errors: NotFound; Forbidden; Conflict if the request is not open.
   */
  async rebase(
    viewer: SignedInViewer,
    project: ProjectScope,
    iid: number,
    { skipsPipelines = false } = {},
  ): Promise<void> {
    const { row, origin } = await this.checkRebase(viewer, project, iid);
    await this.repositories.useRepository(project, (target) =>
      this.repositories.useRepository(origin, async (repository) => {
        let isRebased = false;
        const outcome = await this.changes.changeRefs(repository, {
          project: origin,
          viewer,
          options: skipsPipelines ? ['ci.skip'] : [],
          write: async (view) => {
            const updates = await this.writeRebaseUpdate(view, target, viewer, row);
            isRebased = updates !== null;
            return updates ?? [];
          },
        });
        const why = !isRebased ? FAILED : outcome.moved ? null : outcome.refusal;
        await this.database.run(failMerge, { id: row.id, why });
      }),
    );
  }

  /** Returns the request and its source project if the viewer may rebase it now. Errors: those of `rebase`. */
  async checkRebase(
    viewer: SignedInViewer,
    project: ProjectScope,
    iid: number,
  ): Promise<{ readonly row: MergingRow; readonly origin: ProjectScope }> {
    const row = await this.findMergingRow(viewer, project, iid);
    if (row.state !== 'opened') throw new Conflict('409 Conflict: Resource lock');
    const origin = await this.permissions.sources.findProject(viewer, project, row.source_project_id);
    if (!origin || project.archived) throw new Forbidden('Cannot push to source branch');
    const source = await this.repositories.useRepository(origin, (repository) =>
      readRef(repository, branchRef(row.source_branch)),
    );
    if (source === null) throw new Forbidden('Source branch does not exist');
    const access = await this.permissions.readBranchAccess(viewer, origin, row.source_branch);
    if (!access.mayPush || origin.archived) throw new Forbidden('Cannot push to source branch');
    if (!access.mayForcePush) throw new Forbidden('Source branch is protected from force push');
    return { row, origin };
  }

  /**
   * Writes the merge commit that a merge would create now to the hidden ref of the merge request. Returns the id of the
   * commit. Errors: NotFound; Refused if the merge request cannot be merged.
   */
  async writeTrialMerge(viewer: SignedInViewer, project: ProjectScope, iid: number): Promise<string> {
    const row = await this.findMergingRow(viewer, project, iid);
    const merger = await this.identities.findIdentity(viewer);
    const id = await this.repositories.useRepository(project, async (repository) => {
      if (row.state !== 'opened') return null;
      const { source, target } = await this.permissions.sources.readTips(repository, toRequestBranches(row));
      if (source === null || target === null || row.commits_count === 0) return null;
      const message = `Merge ${source} into ${target}`;
      return writeHiddenRef(repository, mergeRequestMergeRef(iid), async (view) => {
        const written = await writeMergeCommits(view, { target, source, merger, message, squash: null });
        return written?.tip ?? null;
      });
    });
    if (id === null) throw new Refused('Merge request is not mergeable', { verbatim: true });
    return id;
  }

  /** Returns null for a conflict, no update if the branch is rebased already. */
  private async writeRebaseUpdate(
    sourceRepository: Repository,
    targetRepository: Repository,
    viewer: SignedInViewer,
    row: MergingRow,
  ): Promise<RefUpdate[] | null> {
    const source = await readRef(sourceRepository, branchRef(row.source_branch));
    const target = await readRef(targetRepository, branchRef(row.target_branch));
    if (source === null || target === null) return null;
    if (targetRepository.directory !== sourceRepository.directory)
      await copyCommit(sourceRepository, targetRepository, target);
    if (await isAncestor(sourceRepository, target, source)) return [];
    const commits = await listUnappliedCommitIds(sourceRepository, source, target);
    if (commits.length > MAX_COMMITS) return null;
    const committer = await this.identities.findIdentity(viewer);
    const tip = await writeRebasedCommits(sourceRepository, target, commits, committer);
    return tip === null ? null : [{ ref: branchRef(row.source_branch), oldId: source, newId: tip }];
  }

  private async findMergingRow(viewer: SignedInViewer, project: ProjectScope, iid: number): Promise<MergingRow> {
    requireNoteableReader(viewer, { kind: mergeRequestKind, parent: project });
    const [row] = await this.database.run(mergingRow, { project: project.id, iid });
    if (!row) throw new NotFound();
    return row;
  }
}

/**
 * Lists the own commits of a source branch, the oldest first. A commit whose change the target has already is left out,
 * unless one of the branches has too many own commits to compare. Bounds: one more than the maximum of a rebase.
 */
async function listUnappliedCommitIds(
  repository: Repository,
  source: ObjectId,
  target: ObjectId,
): Promise<readonly ObjectId[]> {
  const countOwn = (from: ObjectId, than: ObjectId): Promise<number> =>
    countCommits(repository, { from: [from], notFrom: [than], max: MAX_COMPARED + 1 });
  const compared = Math.max(await countOwn(source, target), await countOwn(target, source));
  return listCommitIds(repository, {
    from: [source],
    ...(compared > MAX_COMPARED ? { notFrom: [target] } : { notAppliedIn: target }),
    skip: 0,
    max: MAX_COMMITS + 1,
    skipsMerges: true,
    order: 'topological',
    isReversed: true,
  });
}
