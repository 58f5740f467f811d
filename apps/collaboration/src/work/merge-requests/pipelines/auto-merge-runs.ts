import { Inject, Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { Directory } from '@rookery/directory';
import { RookeryError, Unauthorized } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import { LOGGER } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import { BackgroundViewerFinder } from '../merging/background-viewer-finder';
import { AutoMerge } from '../merging/auto-merge';
import { isPipelineStatusMergeable, mergeRulesOf } from '../merging/merge-rules';
import { MergeService } from '../merging/merge.service';
import { mergingRow } from '../merging/merging-rows';
import type { MergingRow } from '../merging/merging-rows';

interface WaitingMergeRequestRow {
  readonly id: number;
  readonly iid: number;
  readonly project_id: number;
  readonly auto_merge_user_id: number;
}

/** Automatic merges whose own conditions hold; `after` continues a list. */
const waitingMergeRequests = statement<{ project: number | null; after: number }, WaitingMergeRequestRow>(
  'merge_requests_waiting_for_merge',
  `select i.id, i.iid, i.project_id, i.auto_merge_user_id from merge_requests i
   where i.auto_merge_user_id is not null and i.state = 'opened' and i.id > :after::bigint
     and (:project::bigint is null or i.project_id = :project::bigint)
     and not i.draft and coalesce(i.merge_after <= now(), true) and i.commits_count > 0
   order by i.id limit 100`,
);

const FAILED = new Map([
  ['failed', 'the pipeline failed'],
  ['canceled', 'the pipeline was canceled'],
]);

/**
 * Executes automatic merges as the users who asked for them, by the same checks and rights as their own call. A merge that
 * is tried twice is refused the second time, because the merge request is merged. Source: reference repositories 8.16.
 */
@Injectable()
export class AutoMergeRuns {
  constructor(
    private readonly database: Database,
    private readonly directory: Directory,
    private readonly merges: MergeService,
    private readonly autoMerge: AutoMerge,
    private readonly viewers: BackgroundViewerFinder,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Tries automatic merges of a project, or of all projects. Returns the number of tries. */
  async tryAll(projectId: number | null, signal?: AbortSignal): Promise<number> {
    let tried = 0;
    for (let after = 0; ;) {
      const rows = await this.database.run(waitingMergeRequests, { project: projectId, after });
      for (const row of rows) {
        signal?.throwIfAborted();
        await this.mergeIfReadyOrLogFailure(row);
      }
      tried += rows.length;
      if (rows.length < 100) return tried;
      after = rows.at(-1)!.id;
    }
  }

  /** A failure leaves the automatic merge for the next try; the next one of the list must not wait for it. */
  private async mergeIfReadyOrLogFailure(waitingRow: WaitingMergeRequestRow): Promise<void> {
    try {
      await this.mergeIfReady(waitingRow);
    } catch (error) {
      if (error instanceof RookeryError) return;
      this.logger.warn({ err: error, mergeRequestId: waitingRow.id }, 'an automatic merge failed');
    }
  }

  private async mergeIfReady({
    iid,
    project_id: id,
    auto_merge_user_id: userId,
  }: WaitingMergeRequestRow): Promise<void> {
    const [row] = await this.database.run(mergingRow, { project: id, iid });
    if (row?.auto_merge_user_id !== userId || row.state !== 'opened') return;
    // No caller waits here: with a late copy of the directory the merge is left for the next try.
    await this.directory.assertCurrent();
    const viewer = await this.viewers.findViewer(userId);
    const project = viewer && (await this.directory.findProject(id, viewer, 'copy'));
    if (!project) return this.autoMerge.abort(userId, row, 'its user may not merge any more');
    const failure = FAILED.get(row.head_status ?? '');
    if (failure !== undefined) return this.autoMerge.abort(userId, row, failure);
    if (!isPipelineStatusMergeable(mergeRulesOf(project), row.head_status)) return;
    if (await this.autoMerge.waitsFor(project, row)) return;
    await this.mergeAsViewer(viewer, project, row);
  }

  private async mergeAsViewer(viewer: SignedInViewer, project: ProjectScope, row: MergingRow): Promise<void> {
    const { mergeMessage = null, squashMessage = null, squash = false } = row.auto_merge_wishes ?? {};
    const wishes = { mergeMessage, squashMessage, squash, removesSource: row.should_remove_source_branch };
    try {
      const asked = { ...wishes, isAutomatic: false, isExecutedByAutoMerge: true, sha: row.head_sha };
      await this.merges.merge(viewer, project, row.iid, asked);
    } catch (error) {
      if (!(error instanceof Unauthorized)) throw error;
      await this.autoMerge.abort(viewer.userId, row, 'its user may not merge any more');
    }
  }
}
