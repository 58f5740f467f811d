import { Controller } from '@nestjs/common';
import type { Call, ProjectScope } from '@rookery/api-v4';
import { created, Endpoint, page, project } from '@rookery/api-v4';
import type { Page, SignedInViewer } from '@rookery/kernel';
import { readsPipelines, runsPipelines } from '../pipelines/pipelines.permission';
import { commitStatusPresenter } from './commit-status.presenter';
import { CreateCommitStatus, ListCommitStatuses } from './commit-statuses.dto';
import { CommitStatusesQueries } from './commit-statuses.queries';
import type { CommitStatusRow } from './commit-statuses.queries';
import { CommitStatusesService } from './commit-statuses.service';
import { StatusCommits } from './status-commits';

const SOURCE = 'reference identity-and-import 7.4';

@Controller()
export class CommitStatusesController {
  constructor(
    private readonly statuses: CommitStatusesService,
    private readonly queries: CommitStatusesQueries,
    private readonly commits: StatusCommits,
  ) {}

  @Endpoint('GET', '/projects/:id/repository/commits/:sha/statuses', {
    source: SOURCE,
    within: project(),
    may: readsPipelines,
    about: 'Lists the statuses of a commit: the newest of each name, or all.',
    params: ListCommitStatuses,
    answers: page(commitStatusPresenter),
    fails: [404],
  })
  async list({ within, params, page }: Call<ListCommitStatuses, ProjectScope>): Promise<Page<CommitStatusRow>> {
    const sha = await this.commits.findCommitId(within.id, params.sha);
    return this.queries.list(within.id, sha, params, page);
  }

  @Endpoint('POST', '/projects/:id/statuses/:sha', {
    source: SOURCE,
    within: project(),
    may: runsPipelines,
    about: 'Reports the status of a commit by an outside CI.',
    params: CreateCommitStatus,
    answers: created(commitStatusPresenter),
    fails: [404],
  })
  create({ within, viewer, params }: Call<CreateCommitStatus, ProjectScope, SignedInViewer>): Promise<CommitStatusRow> {
    return this.statuses.reportStatus(within, viewer, params);
  }
}
