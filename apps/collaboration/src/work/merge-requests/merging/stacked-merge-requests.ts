import { Inject, Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import { LOGGER } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import { MergeRequestWrites } from '../merge-request-writes';

const MAX_RETARGETED = 4;

const stackedMergeRequests = statement<{ project: number; branch: string }, { readonly iid: number }>(
  'merge_requests_stacked',
  `select i.iid from merge_requests i
   where i.project_id = :project::bigint and i.target_branch = :branch and i.state = 'opened'
   order by i.iid limit ${MAX_RETARGETED}`,
);

/** Requests into the source branch of another request. Source: reference repositories 8.9. */
@Injectable()
export class StackedMergeRequests {
  constructor(
    private readonly database: Database,
    private readonly writes: MergeRequestWrites,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Gives the oldest open requests into a removed branch another target, as an update by the viewer. A request that
   * refuses the update keeps its target, because the merge that removed the branch is done.
   */
  async retarget(viewer: SignedInViewer, project: ProjectScope, removed: string, targetBranch: string): Promise<void> {
    for (const { iid } of await this.database.run(stackedMergeRequests, { project: project.id, branch: removed })) {
      try {
        await this.writes.update(viewer, project, iid, { targetBranch, isTargetRemoved: true });
      } catch (error) {
        this.logger.warn({ err: error, projectId: project.id, iid }, 'a merge request keeps its removed target branch');
      }
    }
  }
}
