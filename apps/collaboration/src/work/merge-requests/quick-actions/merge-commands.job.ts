import { Inject, Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import { Job } from '@rookery/jobs';
import type { JobRun } from '@rookery/jobs';
import { RookeryError, Unavailable } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import { LOGGER } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import { BackgroundViewerFinder } from '../merging/background-viewer-finder';
import { MergeService } from '../merging/merge.service';
import { RebaseService } from '../merging/rebase.service';
import { runMergeCommand } from './run-merge-command';

const headOfVersion = statement<{ id: number }, { readonly head_sha: string }>(
  'merge_request_versions_head',
  'select head_sha from merge_request_versions where id = :id::bigint',
);

type MergeCommandRun = Pick<JobRun<typeof runMergeCommand>, 'params'>;

/**
 * Runs `/merge` and `/rebase` as their users, by the checks and rights of that moment. A second run finds the merge
 * request merged or rebased and changes nothing. Source: reference work-tracking 2.6.
 */
@Injectable()
export class MergeCommandsJob {
  constructor(
    private readonly viewers: BackgroundViewerFinder,
    private readonly directory: Directory,
    private readonly merges: MergeService,
    private readonly rebases: RebaseService,
    private readonly database: Database,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  @Job(runMergeCommand)
  async run({ params }: MergeCommandRun): Promise<void> {
    try {
      await this.executeMergeCommand(params);
    } catch (error) {
      // A refusal is final: the checks have changed since the text was written. Its user sees the state of the request.
      if (!(error instanceof RookeryError) || error instanceof Unavailable) throw error;
      this.logger.info({ err: error, projectId: params.project_id, iid: params.iid }, 'a quick action was refused');
    }
  }

  private async executeMergeCommand({
    command,
    project_id: projectId,
    iid,
    user_id: userId,
    version_id: id,
  }: MergeCommandRun['params']): Promise<void> {
    await this.directory.assertCurrent();
    const viewer = await this.viewers.findViewer(userId);
    const project = viewer && (await this.directory.findProject(projectId, viewer, 'copy'));
    if (!project) return;
    if (command === 'rebase') return this.rebases.rebase(viewer, project, iid);
    const [version] = await this.database.run(headOfVersion, { id });
    if (!version) return;
    const wishes = { mergeMessage: null, squashMessage: null, removesSource: null, squash: false };
    await this.merges.merge(viewer, project, iid, { ...wishes, isAutomatic: true, sha: version.head_sha });
  }
}
