import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { NotFound } from '@rookery/kernel';
import type { Page, PageRequest } from '@rookery/kernel';
import { Database, filter, ListQuery, statement } from '@rookery/persistence';
import type { Filters, RowOf, SqlReader } from '@rookery/persistence';
import type { Pipeline } from './pipeline.entity';
import { FINISHED_STATUSES } from './pipeline-statuses';
import type { PIPELINE_SOURCES, PIPELINE_STATUSES } from './pipeline-statuses';
import type { PipelineArguments, VariableRow } from './pipeline-variables';

/** A pipeline with the full path of its project, which its URL contains. */
export interface PipelineRow extends StoredPipeline {
  readonly project_path: string;
}

export type StoredPipeline = RowOf<
  Pipeline,
  | 'id'
  | 'iid'
  | 'projectId'
  | 'sha'
  | 'ref'
  | 'isTag'
  | 'status'
  | 'source'
  | 'userId'
  | 'coverage'
  | 'duration'
  | 'committedAt'
  | 'startedAt'
  | 'finishedAt'
  | 'createdAt'
  | 'updatedAt'
>;

/** Columns of a `StoredPipeline`. The alias is `p`. */
export const PIPELINE_COLUMNS = `p.id, p.iid, p.project_id, p.sha, p.ref, p.is_tag, p.status, p.source, p.user_id, p.coverage,
  p.duration, p.committed_at, p.started_at, p.finished_at, p.created_at, p.updated_at`;

/** Filters and order of a list of pipelines. Source: reference identity-and-import 7.3. */
export interface PipelineListing {
  readonly scope?: 'running' | 'pending' | 'finished' | 'branches' | 'tags';
  readonly status?: (typeof PIPELINE_STATUSES)[number];
  readonly source?: (typeof PIPELINE_SOURCES)[number];
  readonly ref?: string;
  readonly sha?: string;
  readonly yaml_errors?: boolean;
  readonly username?: string;
  readonly name?: string;
  readonly updated_after?: Date;
  readonly updated_before?: Date;
  readonly created_after?: Date;
  readonly created_before?: Date;
  readonly order_by: 'id' | 'status' | 'ref' | 'updated_at' | 'user_id';
  readonly sort: 'asc' | 'desc';
}

const finished = FINISHED_STATUSES.map((status) => `'${status}'`).join(', ');
/** The newest pipeline of each branch or tag. The ref of a merge request is no branch. */
const isNewestPipelineOfRefSql = (
  isTag: boolean,
): string => `p.is_tag = ${isTag} and p.source <> 'merge_request_event' and not exists (select 1 from pipelines newer
    where newer.project_id = p.project_id and newer.ref = p.ref and newer.id > p.id and newer.is_tag = ${isTag})`;
const SCOPES = {
  running: `p.status = 'running'`,
  pending: `p.status = 'pending'`,
  finished: `p.status in (${finished})`,
  branches: isNewestPipelineOfRefSql(false),
  tags: isNewestPipelineOfRefSql(true),
} as const;

const FILTERS: Filters<PipelineListing> = {
  scope: (scope) => SCOPES[scope],
  status: filter.equals('p.status'),
  source: filter.equals('p.source'),
  ref: filter.equals('p.ref'),
  sha: filter.equals('p.sha'),
  // No pipeline of an outside CI has a name or a broken configuration.
  yaml_errors: filter.when('false'),
  name: () => 'false',
  username: (name, bind) =>
    `p.user_id = (select u.id from directory_users u where lower(u.username) = lower(${bind(name)}))`,
  updated_after: filter.compares('p.updated_at', '>'),
  updated_before: filter.compares('p.updated_at', '<'),
  created_after: filter.compares('p.created_at', '>'),
  created_before: filter.compares('p.created_at', '<'),
};

const ONE = statement<{ id: number; project: number }, StoredPipeline>(
  'pipelines_one',
  `select ${PIPELINE_COLUMNS} from pipelines p where p.id = :id::bigint and p.project_id = :project::bigint`,
);
const LATEST = statement<{ project: number; ref: string; sha: string }, StoredPipeline>(
  'pipelines_latest',
  `select ${PIPELINE_COLUMNS} from pipelines p
   where p.project_id = :project::bigint and p.sha = :sha and p.ref = :ref order by p.id desc limit 1`,
);
const INPUTS = statement<{ pipeline: number }, Pick<PipelineArguments, 'inputs'>>(
  'pipelines_inputs',
  'select inputs from pipelines where id = :pipeline::bigint',
);
const VARIABLES = statement<{ pipeline: number }, VariableRow>(
  'pipeline_variables_all',
  `select key, value, variable_type from pipeline_variables where pipeline_id = :pipeline::bigint order by id`,
);

/** Lists and single reads of pipelines. Source: reference identity-and-import 7.3. */
@Injectable()
export class PipelinesQueries {
  constructor(private readonly database: Database) {}

  async list(project: ProjectScope, asked: PipelineListing, page: PageRequest): Promise<Page<PipelineRow>> {
    const found = await new ListQuery<StoredPipeline>({
      ...{ name: 'pipelines', from: 'pipelines p', columns: PIPELINE_COLUMNS },
    })
      .where((bind) => `p.project_id = ${bind(project.id, 'project')}`)
      .narrow(FILTERS, asked)
      .orderBy([[`p.${asked.order_by}`, asked.sort]])
      .readPage(this.database, page);
    return { ...found, rows: found.rows.map((row) => toProjectPipelineRow(row, project)) };
  }

  /** Errors: NotFound. */
  async findPipeline(project: ProjectScope, id: number): Promise<PipelineRow> {
    const [row] = await this.database.run(ONE, { id, project: project.id });
    if (!row) throw new NotFound();
    return toProjectPipelineRow(row, project);
  }

  /** Returns the newest pipeline of a commit on a ref. Errors: NotFound. */
  async findLatest(project: ProjectScope, ref: string, sha: string): Promise<PipelineRow> {
    const [row] = await this.database.run(LATEST, { project: project.id, ref, sha });
    if (!row) throw new NotFound('Pipeline');
    return toProjectPipelineRow(row, project);
  }

  /** Returns the variables of a pipeline in their order. */
  listVariables(pipeline: number): Promise<readonly VariableRow[]> {
    return this.database.run(VARIABLES, { pipeline });
  }
}

/** Returns the variables and inputs of a pipeline that exists. */
export async function readArguments(reads: Pick<SqlReader, 'run'>, pipeline: number): Promise<PipelineArguments> {
  const [row] = await reads.run(INPUTS, { pipeline });
  return { variables: await reads.run(VARIABLES, { pipeline }), inputs: row!.inputs };
}

export function toProjectPipelineRow(row: StoredPipeline, { fullPath }: Pick<ProjectScope, 'fullPath'>): PipelineRow {
  return { ...row, project_path: fullPath };
}
