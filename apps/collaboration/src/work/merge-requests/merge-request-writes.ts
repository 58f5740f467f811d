import { Inject, Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import type { Repository } from '@rookery/git';
import type { SignedInViewer } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { LOGGER } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import { setHiddenRefs } from '../../code/repositories/hidden-refs';
import { QuickActionsService } from '../../talk/mentions/quick-actions/quick-actions.service';
import type { MergeRequestUpdate } from './merge-request-change';
import { mergeRequestKind } from './merge-request.kind';
import type { UpdateSteps, WriteSteps } from './merge-requests.service';
import { MergeRequestsService } from './merge-requests.service';
import type { NewMergeRequest } from './new-merge-request';
import { MergeRequestBranches } from './versions/branches';
import { mergeRequestHeadRef, mergeRequestMergeRef, MergeRequestVersions } from './versions/merge-request-versions';

/**
 * Writes merge requests together with what git knows of their branches: versions before the transaction, refs after it.
 * Source: reference repositories 8.4, 8.5.
 */
@Injectable()
export class MergeRequestWrites {
  constructor(
    private readonly mergeRequests: MergeRequestsService,
    private readonly branches: MergeRequestBranches,
    private readonly versions: MergeRequestVersions,
    private readonly actions: QuickActionsService,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Creates a merge request. The quick actions of the description run on it in the same transaction, and are removed
   * from the description. Returns its number. `project` is the project of the target branch.
   */
  create(
    viewer: SignedInViewer,
    project: ProjectScope,
    input: NewMergeRequest,
    more: WriteSteps = {},
  ): Promise<number> {
    return this.branches.useRepository(project, async (repository) => {
      const version = await this.branches.measurePair(repository, project, input);
      const { commands, rest } = this.actions.readCommands(mergeRequestKind, input.description ?? '');
      const permitted = await this.branches.permittedNew(viewer, project, input);
      const described = { ...permitted, description: input.description === null ? null : rest };
      const steps = commands.length === 0 ? more : await this.planCreationSteps(viewer, project, commands, more);
      const { id, iid } = await this.mergeRequests.create(viewer, project, described, version, steps);
      await this.catchUpVersions(repository, id, viewer.userId);
      return iid;
    });
  }

  /** Updates a merge request. Errors: those of `MergeRequestsService` and of the branches. */
  async update(
    viewer: SignedInViewer,
    project: ProjectScope,
    iid: number,
    asked: MergeRequestUpdate,
    steps: UpdateSteps = {},
  ): Promise<void> {
    const update = await this.branches.permittedUpdate(viewer, project, iid, asked);
    const branches = await this.branches.prepareUpdate(viewer, project, iid, update);
    const { id } = await this.mergeRequests.update(viewer, project, iid, update, branches, steps);
    if (branches)
      await this.branches.useRepository(project, (repository) => this.catchUpVersions(repository, id, viewer.userId));
  }

  /** Deletes a merge request with its refs. `check` receives its last change and may refuse. */
  async remove(
    viewer: SignedInViewer,
    project: ProjectScope,
    iid: number,
    check: (updatedAt: Date) => void,
  ): Promise<void> {
    await this.mergeRequests.remove(viewer, project, iid, check);
    try {
      const refs = [mergeRequestHeadRef(iid), mergeRequestMergeRef(iid)].map((ref) => ({ ref, id: null }));
      await this.branches.useRepository(project, (repository) => setHiddenRefs(repository, refs));
    } catch (error) {
      this.logger.warn({ err: error, projectId: project.id, iid }, 'refs of a deleted merge request remain');
    }
  }

  private async planCreationSteps(
    viewer: SignedInViewer,
    project: ProjectScope,
    commands: Parameters<QuickActionsService['planActions']>[1],
    furtherSteps: WriteSteps,
  ): Promise<WriteSteps> {
    const planned = await this.actions.planActions(
      { viewer, kind: mergeRequestKind, parent: project, isNew: true },
      commands,
    );
    return {
      lock: async (tx: Tx) => {
        await furtherSteps.lock?.(tx);
        await planned.lock(tx, null);
      },
      finish: async (tx: Tx, named: number) => {
        await planned.execute(tx, { kind: mergeRequestKind, parent: project, by: 'iid', named });
        await furtherSteps.finish?.(tx, named);
      },
    };
  }

  /**
   * Records a version if a branch has moved meanwhile, and publishes the head. A failure does not fail the request,
   * whose rows are committed: the next push or a job repeats it.
   */
  private async catchUpVersions(repository: Repository, id: number, actorId: number): Promise<void> {
    try {
      await this.versions.catchUp(repository, id, actorId);
      await this.versions.publishHead(repository, id);
    } catch (error) {
      this.logger.warn({ err: error, mergeRequestId: id }, 'a merge request was not compared with its branches');
    }
  }
}
