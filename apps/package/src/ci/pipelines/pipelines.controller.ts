import { Controller } from '@nestjs/common';
import type { Call, ProjectScope } from '@rookery/api-v4';
import { unpagedList, checkUnmodifiedSince, created, Endpoint, noContent, one, page, project } from '@rookery/api-v4';
import { NotFound } from '@rookery/kernel';
import type { Page, SignedInViewer } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import { CollaborationClient } from './collaboration-client';
import {
  bridgePresenter,
  detailedPipelinePresenter,
  pipelinePresenter,
  pipelineVariablePresenter,
  testReportPresenter,
  testReportSummaryPresenter,
} from './pipeline.presenter';
import { PipelineRows } from './pipeline-rows';
import { PipelineStarts } from './pipeline-starts';
import type { VariableRow } from './pipeline-variables';
import { CreatePipeline, ShowLatestPipeline, ListPipelines, IdentifyPipeline } from './pipelines.dto';
import { deletesPipelines, readsPipelines, readsVariables, runsPipelines } from './pipelines.permission';
import { PipelinesQueries } from './pipelines.queries';
import type { PipelineRow } from './pipelines.queries';

const PIPELINES = '/projects/:id/pipelines';
const PIPELINE = `${PIPELINES}/:pipeline_id`;
const SOURCE = 'reference identity-and-import 7.3';
const reads = { source: SOURCE, within: project(), may: readsPipelines } as const;

type PipelineCall<P> = Call<P, ProjectScope>;

@Controller()
export class PipelinesController {
  constructor(
    private readonly queries: PipelinesQueries,
    private readonly rows: PipelineRows,
    private readonly starts: PipelineStarts,
    private readonly collaboration: CollaborationClient,
    private readonly work: Work,
  ) {}

  @Endpoint('GET', PIPELINES, {
    ...reads,
    about: 'Lists the pipelines of a project.',
    params: ListPipelines,
    answers: page(pipelinePresenter),
  })
  list({ within, params, page }: PipelineCall<ListPipelines>): Promise<Page<PipelineRow>> {
    return this.queries.list(within, params, page);
  }

  @Endpoint('GET', `${PIPELINES}/latest`, {
    ...reads,
    about: 'Returns the newest pipeline of the last commit of a branch or tag.',
    params: ShowLatestPipeline,
    answers: one(detailedPipelinePresenter),
    fails: [404],
  })
  async latest({ within, params }: PipelineCall<ShowLatestPipeline>): Promise<PipelineRow> {
    const name = params.ref || within.defaultBranch;
    const commit = await this.collaboration.resolveRef({ project_id: within.id, name });
    if (!commit || commit.ref === null) throw new NotFound('Pipeline');
    return this.queries.findLatest(within, commit.ref, commit.sha);
  }

  @Endpoint('GET', PIPELINE, {
    ...reads,
    about: 'Returns a pipeline.',
    params: IdentifyPipeline,
    answers: one(detailedPipelinePresenter),
    fails: [404],
  })
  show({ within, params }: PipelineCall<IdentifyPipeline>): Promise<PipelineRow> {
    return this.queries.findPipeline(within, params.pipeline_id);
  }

  @Endpoint('GET', `${PIPELINE}/variables`, {
    ...reads,
    may: readsVariables,
    about: 'Lists the variables that a pipeline was started with.',
    params: IdentifyPipeline,
    answers: unpagedList(pipelineVariablePresenter),
    fails: [404],
  })
  async variables({ within, params }: PipelineCall<IdentifyPipeline>): Promise<readonly VariableRow[]> {
    const { id } = await this.queries.findPipeline(within, params.pipeline_id);
    return this.queries.listVariables(id);
  }

  @Endpoint('GET', `${PIPELINE}/bridges`, {
    ...reads,
    about: 'Lists jobs that start other pipelines by configuration. There are none.',
    params: IdentifyPipeline,
    answers: unpagedList(bridgePresenter),
    fails: [404],
  })
  async bridges({ within, params }: PipelineCall<IdentifyPipeline>): Promise<readonly never[]> {
    await this.queries.findPipeline(within, params.pipeline_id);
    return [];
  }

  @Endpoint('GET', `${PIPELINE}/test_report`, {
    ...reads,
    about: 'Returns the test report of a pipeline, which is empty.',
    params: IdentifyPipeline,
    answers: one(testReportPresenter),
    fails: [404],
  })
  testReport({ within, params }: PipelineCall<IdentifyPipeline>): Promise<object> {
    return this.queries.findPipeline(within, params.pipeline_id);
  }

  @Endpoint('GET', `${PIPELINE}/test_report_summary`, {
    ...reads,
    about: 'Returns the summary of the test report of a pipeline, which is empty.',
    params: IdentifyPipeline,
    answers: one(testReportSummaryPresenter),
    fails: [404],
  })
  testReportSummary({ within, params }: PipelineCall<IdentifyPipeline>): Promise<object> {
    return this.queries.findPipeline(within, params.pipeline_id);
  }

  @Endpoint('POST', '/projects/:id/pipeline', {
    ...reads,
    may: runsPipelines,
    about: 'Starts a pipeline on a branch or tag.',
    params: CreatePipeline,
    answers: created(detailedPipelinePresenter),
  })
  create({ within, viewer, params }: Call<CreatePipeline, ProjectScope, SignedInViewer>): Promise<PipelineRow> {
    const { ref, variables = [], inputs = {} } = params;
    return this.starts.startPipeline(within, { ref, source: 'api', userId: viewer.userId, variables, inputs });
  }

  @Endpoint('DELETE', PIPELINE, {
    ...reads,
    may: deletesPipelines,
    about: 'Deletes a pipeline with its jobs and variables.',
    params: IdentifyPipeline,
    answers: noContent(),
    fails: [404, 412],
  })
  remove(call: PipelineCall<IdentifyPipeline>): Promise<void> {
    return this.work.run(async (tx) => {
      const found = await this.rows.lockPipeline(tx, call.params.pipeline_id, call.within.id);
      checkUnmodifiedSince(call, found.updated_at);
      await this.rows.removePipeline(tx, found);
    });
  }
}
