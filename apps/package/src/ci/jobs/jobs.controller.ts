import { Controller } from '@nestjs/common';
import type { Call, KeysetPage, ProjectScope } from '@rookery/api-v4';
import { anyone, created, Endpoint, keysetPage, one, page, project } from '@rookery/api-v4';
import type { Page, SignedInViewer } from '@rookery/kernel';
import { readsPipelines, runsPipelines } from '../pipelines/pipelines.permission';
import { detailedPipelinePresenter } from '../pipelines/pipeline.presenter';
import { IdentifyPipeline } from '../pipelines/pipelines.dto';
import { PipelinesQueries } from '../pipelines/pipelines.queries';
import type { PipelineRow } from '../pipelines/pipelines.queries';
import { Directory } from '@rookery/directory';
import { jobPresenter, openedJobPresenter } from './job.presenter';
import type { OpenedJob } from './job.presenter';
import { ListJobs, ListPipelineJobs, IdentifyJob, CreateJob, UpdateJob } from './jobs.dto';
import { JobsQueries } from './jobs.queries';
import type { JobRow } from './jobs.queries';
import { JobsService } from './jobs.service';

const PIPELINE = '/projects/:id/pipelines/:pipeline_id';
const SOURCE = 'reference identity-and-import 7.5';
const OF_PIPELINE = 'reference identity-and-import 7.3';
const reads = { source: SOURCE, within: project(), may: readsPipelines } as const;
const changes = { source: SOURCE, within: project(), may: runsPipelines } as const;

@Controller()
export class JobsController {
  constructor(
    private readonly queries: JobsQueries,
    private readonly jobs: JobsService,
    private readonly pipelines: PipelinesQueries,
    private readonly directory: Directory,
  ) {}

  @Endpoint('GET', '/projects/:id/jobs', {
    ...reads,
    about: 'Lists the jobs of a project, newest first.',
    params: ListJobs,
    answers: page(jobPresenter, { keyset: { orderBy: ['id'], sort: ['desc'] } }),
  })
  async list(call: Call<ListJobs, ProjectScope>): Promise<Page<JobRow> | KeysetPage<JobRow>> {
    const { within, params, keyset } = call;
    if (keyset === null) return this.queries.ofProject(within, params, call.page);
    const last = keyset.idBefore ?? (keyset.cursor?.['id'] as number | undefined) ?? null;
    const rows = await this.queries.ofProjectBefore(within, params, { last, perPage: keyset.perPage });
    return keysetPage(keyset.perPage, rows, ({ id }) => ({ cursor: { id } }));
  }

  @Endpoint('GET', '/projects/:id/jobs/:job_id', {
    ...reads,
    about: 'Returns a job.',
    params: IdentifyJob,
    answers: one(jobPresenter),
    fails: [404],
  })
  show({ within, params }: Call<IdentifyJob, ProjectScope>): Promise<JobRow> {
    return this.queries.findJob(within, params.job_id);
  }

  @Endpoint('GET', `${PIPELINE}/jobs`, {
    ...reads,
    about: 'Lists the jobs of a pipeline, newest first.',
    params: ListPipelineJobs,
    answers: page(jobPresenter),
    fails: [404],
  })
  async listOfPipeline({ within, params, page }: Call<ListPipelineJobs, ProjectScope>): Promise<Page<JobRow>> {
    const { id } = await this.pipelines.findPipeline(within, params.pipeline_id);
    return this.queries.ofPipeline(within, id, params, page);
  }

  @Endpoint('POST', `${PIPELINE}/jobs`, {
    ...changes,
    about: 'Opens a job for an outside runner. The job runs until the runner reports its end, for an hour at most.',
    params: CreateJob,
    answers: created(openedJobPresenter),
    fails: [404],
  })
  open({ within, viewer, params }: Call<CreateJob, ProjectScope, SignedInViewer>): Promise<OpenedJob> {
    return this.jobs.openJob(within, viewer, params);
  }

  @Endpoint('PUT', '/jobs/:id', {
    source: SOURCE,
    may: anyone(),
    tokenScopes: 'any',
    about: 'Reports the state of a job. The token of the running job authenticates the request.',
    params: UpdateJob,
    answers: one(jobPresenter),
    fails: [401, 403, 404],
  })
  async update({ params, viewer }: Call<UpdateJob>): Promise<JobRow> {
    await this.directory.requireFresh(viewer);
    return this.jobs.reportState(params);
  }

  @Endpoint('POST', `${PIPELINE}/cancel`, {
    ...changes,
    source: OF_PIPELINE,
    about: 'Cancels the jobs of a pipeline that have not ended.',
    params: IdentifyPipeline,
    answers: one(detailedPipelinePresenter),
    fails: [404],
  })
  cancel({ within, params }: Call<IdentifyPipeline, ProjectScope>): Promise<PipelineRow> {
    return this.jobs.cancel(within, params.pipeline_id);
  }

  @Endpoint('POST', `${PIPELINE}/retry`, {
    ...changes,
    source: OF_PIPELINE,
    about: 'Repeats the failed and canceled jobs of a pipeline: each waits for a runner again.',
    params: IdentifyPipeline,
    answers: created(detailedPipelinePresenter),
    fails: [404],
  })
  retry({ within, params }: Call<IdentifyPipeline, ProjectScope>): Promise<PipelineRow> {
    return this.jobs.retry(within, params.pipeline_id);
  }
}
