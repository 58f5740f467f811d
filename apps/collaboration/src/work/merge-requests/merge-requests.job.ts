import { Injectable } from '@nestjs/common';
import { Job } from '@rookery/jobs';
import type { Interruptible, JobRun } from '@rookery/jobs';
import { Database } from '@rookery/persistence';
import { ProjectRepositories } from '../../code/repositories/project-repositories';
import { checkMergeRequests } from './merging/check-merge-requests';
import { Mergeability } from './merging/mergeability';
import { MergeRequestVersions, unpublishedHeads } from './versions/merge-request-versions';

/** Background work on merge requests. Source: reference repositories 8.5. */
@Injectable()
export class MergeRequestsJob {
  constructor(
    private readonly versions: MergeRequestVersions,
    private readonly repositories: ProjectRepositories,
    private readonly database: Database,
    private readonly mergeability: Mergeability,
  ) {}

  /** Checks merge requests after a push. Source: reference work-tracking 6.3. */
  @Job(checkMergeRequests)
  async check({ params, signal }: Pick<JobRun<typeof checkMergeRequests>, 'params' | 'signal'>): Promise<void> {
    await this.mergeability.refreshAll(params.project_id, signal);
  }

  /** Updates refs of heads whose process died between the version and the ref. Returns their number. */
  @Job('publish-merge-request-heads', { cron: '* * * * *' })
  async publishHeads(run?: Interruptible): Promise<number> {
    const rows = await this.database.run(unpublishedHeads, { id: null });
    for (const { id, project_id: projectId } of rows) {
      run?.signal.throwIfAborted();
      const repository = await this.repositories.findRepository(projectId);
      if (repository) await this.versions.publishHead(repository, id);
    }
    return rows.length;
  }
}
