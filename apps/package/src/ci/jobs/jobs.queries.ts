import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { NotFound } from '@rookery/kernel';
import type { Page, PageRequest } from '@rookery/kernel';
import { Database, ListQuery, statement } from '@rookery/persistence';
import type { Filters, RowOf } from '@rookery/persistence';
import type { Pipeline } from '../pipelines/pipeline.entity';
import type { PIPELINE_STATUSES } from '../pipelines/pipeline-statuses';
import { JOB_COLUMNS } from './ci-job-rows';
import type { CiJobRow } from './ci-job-rows';

type PipelineColumns = RowOf<
  Pipeline,
  'iid' | 'sha' | 'ref' | 'isTag' | 'status' | 'source' | 'createdAt' | 'updatedAt'
>;
type PipelineOfJob = { readonly [C in keyof PipelineColumns as `pipeline_${C}`]: PipelineColumns[C] };

type JobWithPipeline = CiJobRow & PipelineOfJob;

/** A job with its pipeline and the full path of its project. */
export interface JobRow extends JobWithPipeline {
  readonly project_path: string;
}

/** Filters of a list of jobs. */
export interface JobListing {
  readonly scope?: readonly (typeof PIPELINE_STATUSES)[number][];
  readonly include_retried?: boolean;
}

const COLUMNS = `${JOB_COLUMNS}, p.iid as pipeline_iid, p.sha as pipeline_sha, p.ref as pipeline_ref,
  p.is_tag as pipeline_is_tag, p.status as pipeline_status, p.source as pipeline_source,
  p.created_at as pipeline_created_at, p.updated_at as pipeline_updated_at`;
const JOINS = 'join pipelines p on p.id = j.pipeline_id';

const FILTERS: Filters<JobListing> = {
  scope: (statuses, bind) => statuses.length > 0 && `j.status = any(${bind(statuses)}::text[])`,
  include_retried: (isAll) => !isAll && 'not j.is_retried',
};

const ONE = statement<{ id: number; project: number }, JobWithPipeline>(
  'ci_jobs_one',
  `select ${COLUMNS} from ci_jobs j ${JOINS}
   where j.id = :id::bigint and j.project_id = :project::bigint and j.kind = 'job'`,
);

/** Lists and single reads of the jobs of outside runners. Source: reference identity-and-import 7.5. */
@Injectable()
export class JobsQueries {
  constructor(private readonly database: Database) {}

  async ofProject(project: ProjectScope, asked: JobListing, page: PageRequest): Promise<Page<JobRow>> {
    return addProjectPathToJobs(await jobsQuery(project, asked).readPage(this.database, page), project);
  }

  /** Returns `perPage + 1` jobs before the job `last`. */
  async ofProjectBefore(
    project: ProjectScope,
    asked: JobListing,
    at: { readonly last: number | null; readonly perPage: number },
  ): Promise<readonly JobRow[]> {
    const query = jobsQuery(project, asked);
    if (at.last !== null) query.filter((bind) => `j.id < ${bind(at.last, 'last')}`);
    return addProjectPathToJobs({ rows: await query.readRows(this.database, at.perPage) }, project).rows;
  }

  async ofPipeline(
    project: ProjectScope,
    pipelineId: number,
    asked: JobListing,
    page: PageRequest,
  ): Promise<Page<JobRow>> {
    const query = jobsNewestFirstQuery((bind) => `j.pipeline_id = ${bind(pipelineId, 'pipeline')}`, asked);
    return addProjectPathToJobs(await query.readPage(this.database, page), project);
  }

  /** Errors: NotFound. */
  async findJob(project: Pick<ProjectScope, 'id' | 'fullPath'>, id: number): Promise<JobRow> {
    const [row] = await this.database.run(ONE, { id, project: project.id });
    if (!row) throw new NotFound();
    return { ...row, project_path: project.fullPath };
  }
}

function jobsQuery({ id }: ProjectScope, listing: JobListing): ListQuery<JobWithPipeline> {
  return jobsNewestFirstQuery((bind) => `j.project_id = ${bind(id, 'project')}`, listing);
}

function jobsNewestFirstQuery(
  where: Parameters<ListQuery<JobWithPipeline>['where']>[0],
  listing: JobListing,
): ListQuery<JobWithPipeline> {
  return new ListQuery<JobWithPipeline>({ name: 'ci_jobs', from: 'ci_jobs j', columns: COLUMNS, joins: JOINS })
    .where(where)
    .where(`j.kind = 'job'`)
    .narrow(FILTERS, listing)
    .orderBy([['j.id', 'desc']]);
}

function addProjectPathToJobs<P extends { readonly rows: readonly JobWithPipeline[] }>(
  page: P,
  { fullPath }: ProjectScope,
) {
  return { ...page, rows: page.rows.map((row): JobRow => ({ ...row, project_path: fullPath })) };
}
